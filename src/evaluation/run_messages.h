// Messages (protocol.h) about inputs, calls and facts: what a worker computes, and what it says about it.
// Inputs stay in the worker's process under a name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/protocol.h"

namespace hone {

struct MakeInputsReply {
  Json tree;  // null: these inputs cannot be changed in that way
  // Tensors that get_inputs has made the same in all draws so far, and those of them whose values are worth
  // work ahead of the clock: no constants, masks or whole numbers.
  std::vector<uint64_t> fixed = {};
  std::vector<uint64_t> telling = {};
  static FieldList Fields();
};
struct MakeInputsRequest {
  static constexpr Verb kVerb = Verb::kMakeInputs;
  using Reply = MakeInputsReply;
  std::string inputs;
  uint64_t seed = 0;
  std::string slot;
  std::string variant = {};
  std::string regime = {};
  std::string draw = {};
  std::string change = {};
  std::vector<std::vector<int64_t>> output_shapes = {};
  uint64_t near = 0;  // not 0: the inputs differ by rounding, under this seed
  bool hold = false;
  static FieldList Fields();
};

// A request with `hold` has its tensors kept by the worker: the reply says how large they are, and this
// request hands over memory of the parent that they are copied into.
struct FetchRequest {
  static constexpr Verb kVerb = Verb::kFetch;
  using Reply = Nothing;
  uint64_t bytes = 0;
  bool on_device = false;
  bool trim = false;  // give memory that the worker has no use for back to the device
  static FieldList Fields();
};

// The values come in a memory file, or lie in memory of the parent (`bytes` of it) and stay there; to change
// those in place, the parent writes them and sends the message without a descriptor.
struct PutInputsRequest {
  static constexpr Verb kVerb = Verb::kPutInputs;
  using Reply = Nothing;
  std::string inputs;
  Json tree;
  bool in_place = false;
  uint64_t bytes = 0;
  bool on_device = false;
  static FieldList Fields();
};

struct StressRequest {
  static constexpr Verb kVerb = Verb::kStress;
  using Reply = Nothing;
  std::string slot;
  std::string regime;
  uint64_t seed = 0;
  std::string inputs;
  static FieldList Fields();
};

struct MutantsReply {
  std::vector<std::string> names;
  std::map<std::string, double> sensitivities;  // by parameter
  static FieldList Fields();
};
struct MutantsRequest {
  static constexpr Verb kVerb = Verb::kMutants;
  using Reply = MutantsReply;
  std::string slot;
  std::string inputs;
  uint64_t seed = 0;
  int gradient_from = 0;
  static FieldList Fields();
};

struct RunReply {
  Json tree;
  Json inputs_after;            // if a second descriptor was sent
  bool inputs_changed = false;  // by a call with `fresh`
  static FieldList Fields();
};
struct RunRequest {
  static constexpr Verb kVerb = Verb::kRun;
  using Reply = RunReply;
  std::string slot;
  std::string inputs;
  uint64_t seed = 0;
  std::string rung = {};  // a baseline; of the reference only
  std::string mutant = {};
  bool poison = false;
  bool busy = false;
  std::vector<uint64_t> output_bytes = {};
  bool hold = false;
  // Call with copies of the inputs and say whether they changed. If they did, all later calls of this worker
  // get copies.
  bool fresh = false;
  bool want_inputs = false;  // the tree is that of the inputs after the call
  uint64_t earlier = 0;      // calls on the same inputs before this one, from the same state
  static FieldList Fields();
};

struct TruthRequest {
  static constexpr Verb kVerb = Verb::kTruth;
  using Reply = TreeReply;
  std::string slot;
  std::string inputs;
  uint64_t seed = 0;
  bool keep = true;  // the float64 module, for the next call
  std::string mutant = {};
  double jitter = 0;
  uint64_t jitter_seed = 0;
  bool hold = false;
  uint64_t earlier = 0;
  static FieldList Fields();
};

struct RungRequest {
  static constexpr Verb kVerb = Verb::kRung;
  using Reply = Nothing;
  std::string slot;
  std::string inputs;
  std::string rung;
  static FieldList Fields();
};

struct CardReply {
  Json card;
  static FieldList Fields();
};
struct CardRequest {
  static constexpr Verb kVerb = Verb::kCard;
  using Reply = CardReply;
  std::string slot;
  std::string inputs;
  static FieldList Fields();
};

// The task as a graph (graph/graph_json.h), or one sentence that says why there is none. The worker draws
// inputs from `seed`. It runs the graph against the module only if that needs no more than `limit_bytes`.
struct GraphReply {
  Json graph;
  std::string declined;
  static FieldList Fields();
};
struct GraphRequest {
  static constexpr Verb kVerb = Verb::kGraph;
  using Reply = GraphReply;
  std::string slot;
  uint64_t seed = 0;
  uint64_t limit_bytes = 0;
  static FieldList Fields();
};

// All of it is the worker's own word.
struct ProfileReply {
  int64_t launches = -1;
  double own_us = 0;
  double library_us = 0;
  Json kernels;
  static FieldList Fields();
};
struct ProfileRequest {
  static constexpr Verb kVerb = Verb::kProfile;
  using Reply = ProfileReply;
  std::string slot;
  std::string inputs;
  static FieldList Fields();
};

struct CeilingsReply {
  Json rates;
  static FieldList Fields();
};
struct CeilingsRequest {
  static constexpr Verb kVerb = Verb::kCeilings;
  using Reply = CeilingsReply;
  static FieldList Fields();
};

struct TamperingReply {
  std::vector<std::string> changed;
  std::vector<std::string> libraries;  // that its workers import and its zygote may
  static FieldList Fields();
};
struct TamperingRequest {
  static constexpr Verb kVerb = Verb::kTampering;
  using Reply = TamperingReply;
  static FieldList Fields();
};

struct CanaryReply {
  bool right = false;
  static FieldList Fields();
};
struct CanaryRequest {
  static constexpr Verb kVerb = Verb::kCanary;
  using Reply = CanaryReply;
  static FieldList Fields();
};

// What each step needs and tells; the rest is empty.
struct ContractReply {
  std::string failed;          // what the module's code raised
  std::string not_applicable;  // why the step says nothing about this module
  std::vector<std::string> names;
  Json tree;
  std::vector<std::string> changed;
  bool draws = false;
  static FieldList Fields();
};
struct ContractRequest {
  static constexpr Verb kVerb = Verb::kContract;
  using Reply = ContractReply;
  ContractStep step = ContractStep::kDeepcopy;
  std::string slot = {};
  std::string inputs = {};
  std::string as = {};   // the slot or the inputs that the step makes
  std::string how = {};  // "load", "data" or "in_place"
  std::optional<std::vector<std::string>> names = {};
  Json tree = {};
  uint64_t seed = 0;
  uint64_t dim = 0;
  int64_t full = 0;
  int64_t size = 0;
  static FieldList Fields();
};

}  // namespace hone
