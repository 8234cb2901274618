#include "evaluation/protocol.h"

#include <iterator>

#include "evaluation/run_messages.h"
#include "evaluation/setup_messages.h"
#include "evaluation/timing_messages.h"

namespace hone {

namespace {

struct VerbRow {
  Verb verb;
  const char* name;
  FieldList (*request)();
  FieldList (*reply)();
};

template <class Request>
constexpr VerbRow RowOf(const char* name) {
  return {Request::kVerb, name, &Request::Fields, &Request::Reply::Fields};
}

// The rows are in the order of the enum.
constexpr VerbRow kVerbs[] = {
    RowOf<HelloRequest>("hello"),
    RowOf<ThreadsRequest>("threads"),
    RowOf<LoadRequest>("load"),
    RowOf<InitInputsRequest>("init_inputs"),
    RowOf<BuildRequest>("build"),
    RowOf<WeightsRequest>("weights"),
    RowOf<TakeWeightsRequest>("take_weights"),
    RowOf<SnapshotRequest>("snapshot"),
    RowOf<DropRequest>("drop"),
    RowOf<MakeInputsRequest>("make_inputs"),
    RowOf<FetchRequest>("fetch"),
    RowOf<PutInputsRequest>("put_inputs"),
    RowOf<StressRequest>("stress"),
    RowOf<MutantsRequest>("mutants"),
    RowOf<RunRequest>("run"),
    RowOf<TruthRequest>("truth"),
    RowOf<RungRequest>("rung"),
    RowOf<CardRequest>("card"),
    RowOf<GraphRequest>("graph"),
    RowOf<ProfileRequest>("profile"),
    RowOf<CeilingsRequest>("ceilings"),
    RowOf<TamperingRequest>("tampering"),
    RowOf<CanaryRequest>("canary"),
    RowOf<ContractRequest>("contract"),
    RowOf<DrawRequest>("draw"),
    RowOf<BlockRequest>("block"),
    RowOf<CollectRequest>("collect"),
    RowOf<ClearRequest>("clear"),
    RowOf<CallsRequest>("calls"),
    RowOf<KeepSampleRequest>("keep_sample"),
    RowOf<ForkRequest>("fork"),
    RowOf<StatusRequest>("status"),
    RowOf<ImportRequest>("import"),
    RowOf<JoinRequest>("join"),
};

constexpr bool IsInOrderOfVerbs() {
  for (size_t i = 0; i < std::size(kVerbs); ++i)
    if (static_cast<size_t>(kVerbs[i].verb) != i) return false;
  return std::size(kVerbs) == static_cast<size_t>(Verb::kJoin) + 1;
}
static_assert(IsInOrderOfVerbs());

constexpr const char* kStepNames[] = {"set_weights", "deepcopy", "pickle", "slice", "gradients", "globals"};
static_assert(std::size(kStepNames) == static_cast<size_t>(ContractStep::kGlobals) + 1);

}  // namespace

const char* NameOf(Verb verb) {
  return kVerbs[static_cast<size_t>(verb)].name;
}

const char* NameOf(ContractStep step) {
  return kStepNames[static_cast<size_t>(step)];
}

std::span<const ContractStep> AllContractSteps() {
  static constexpr ContractStep kSteps[] = {ContractStep::kSetWeights, ContractStep::kDeepcopy,
                                            ContractStep::kPickle,     ContractStep::kSlice,
                                            ContractStep::kGradients,  ContractStep::kGlobals};
  return kSteps;
}

FieldList ReplyHeader::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&ReplyHeader::ok>("ok"),
      FieldFor<&ReplyHeader::compute_s>("compute_s", kHint),
      FieldFor<&ReplyHeader::error>("error", kHint),
      FieldFor<&ReplyHeader::unreadable>("unreadable", kHint),
  };
  return kFields;
}

FieldList ErrorReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&ErrorReply::type>("type", kHint),
      FieldFor<&ErrorReply::message>("message", kHint),
      FieldFor<&ErrorReply::traceback>("traceback", kHint),
  };
  return kFields;
}

FieldList Nothing::Fields() {
  return {};
}

FieldList TreeReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&TreeReply::tree>("tree"),
  };
  return kFields;
}

Json DescribeProtocol() {
  Json verbs = Json::object();
  for (const VerbRow& row : kVerbs)
    verbs[row.name] = Json::array({DescribeFields(row.request()), DescribeFields(row.reply())});
  return verbs;
}

}  // namespace hone
