// Fixes a call of triton.language whose arguments do not fit its parameters: an unknown keyword that can mean
// exactly one parameter, one that means nothing there, an argument that is given twice with the same text,
// and the name of *rest in front of what has to be given by position. The mended call must fit every release
// in question.
#include <algorithm>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"
#include "analysis/triton_signatures.h"
#include "base/text.h"

namespace hone {

namespace {

bool IsNumberLiteral(const PyNode* node) {
  while (node != nullptr && node->Is(PyKind::kUnaryOp) && node->op == "-") node = node->value;
  return node != nullptr && (node->Is(PyKind::kInt) || node->Is(PyKind::kFloat));
}

class KeywordMender {
 public:
  KeywordMender(const Candidate& candidate, const PyNode* call, std::string_view name,
                std::vector<CallSignature> signatures, bool is_method)
      : candidate_(candidate),
        call_(call),
        name_(name),
        signatures_(std::move(signatures)),
        is_method_(is_method),
        shape_(ShapeOfCall(call, is_method)) {}

  FixEdits Make() {
    if (shape_.hidden) return {};
    for (const PyNode* keyword : call_->keywords)
      if (!Keyword(keyword)) return {};
    for (const CallSignature& signature : signatures_)
      if (BindCall(signature, shape_)) return {};
    return std::move(edits_);
  }

 private:
  bool All(const auto& holds) const { return std::all_of(signatures_.begin(), signatures_.end(), holds); }

  bool Keyword(const PyNode* keyword) {
    const std::string_view given = keyword->name;
    if (All([&](const CallSignature& one) { return one.any_keyword || one.Has(given); })) {
      if (All([](const CallSignature& one) { return one.no_keyword; })) return ByPosition(keyword);
      return IsRepetition(keyword) ? Remove(keyword) : true;
    }
    if (IsMeaningless(name_, given)) return Remove(keyword);
    if (name_ == "arange" && given == "dtype") return CastInstead(keyword);
    if (All([&](const CallSignature& one) { return one.rest == given; })) return ByPosition(keyword);
    std::vector<std::string_view> meant = MeantParameters(signatures_.front(), shape_, name_, given);
    if (meant.size() != 1) return false;
    // A number is a fallback and no mask, whatever it is called.
    if (meant[0] == "mask" && IsNumberLiteral(keyword->value)) return false;
    std::replace(shape_.keywords.begin(), shape_.keywords.end(), given, meant[0]);
    edits_.push_back(
        {keyword->start, keyword->start + static_cast<uint32_t>(given.size()), std::string(meant[0])});
    return true;
  }

  bool Remove(const PyNode* keyword) {
    shape_.keywords.erase(std::find(shape_.keywords.begin(), shape_.keywords.end(), keyword->name));
    edits_.push_back(RemoveArgument(candidate_, keyword));
    return true;
  }

  // Whether the parameter already has the same text by position.
  bool IsRepetition(const PyNode* keyword) const {
    const std::vector<CallParameter>& parameters = signatures_.front().parameters;
    const size_t receiver = is_method_ ? 1 : 0;
    for (size_t i = receiver; i < parameters.size() && i - receiver < call_->args.size(); ++i)
      if (parameters[i].by_position && parameters[i].name == keyword->name)
        return Code(candidate_, call_->args[i - receiver]) == Code(candidate_, keyword->value);
    return false;
  }

  // tl.reshape(x, shape=(a, b)) -> tl.reshape(x, (a, b)). Only the first keyword can follow what is
  // positional.
  bool ByPosition(const PyNode* keyword) {
    const size_t own = static_cast<size_t>(
        std::count_if(signatures_.front().parameters.begin(), signatures_.front().parameters.end(),
                      [&](const CallParameter& one) { return one.by_position; }));
    const CallSignature& signature = signatures_.front();
    const bool next = signature.rest == keyword->name
                          ? shape_.positional == own
                          : shape_.positional < signature.parameters.size() &&
                                signature.parameters[shape_.positional].name == keyword->name;
    if (keyword != call_->keywords.front() || !next) return false;
    const std::string_view text = candidate_.source.text();
    uint32_t end = keyword->start + static_cast<uint32_t>(keyword->name.size());
    while (end < keyword->end && (text[end] == ' ' || text[end] == '=')) ++end;
    shape_.keywords.erase(shape_.keywords.begin());
    ++shape_.positional;
    edits_.push_back({keyword->start, end, ""});
    return true;
  }

  // tl.arange gives int32.
  bool CastInstead(const PyNode* keyword) {
    const std::string type = candidate_.python->scopes->Resolve(keyword->value);
    if (!StartsWith(type, "triton.language.")) return false;
    if (type != "triton.language.int32")
      edits_.push_back(Insert(call_->end, ".to(" + Code(candidate_, keyword->value) + ")"));
    return Remove(keyword);
  }

  const Candidate& candidate_;
  const PyNode* call_;
  std::string_view name_;
  std::vector<CallSignature> signatures_;
  bool is_method_;
  CallShape shape_;
  FixEdits edits_;
};

}  // namespace

std::vector<CallSignature> WantedSignatures(const Candidate& candidate, std::string_view scope,
                                            std::string_view name) {
  std::vector<CallSignature> out = SignaturesOf(scope, name);
  out.erase(std::remove_if(out.begin(), out.end(),
                           [&](const CallSignature& one) {
                             return (one.releases & candidate.options.triton_versions) == 0;
                           }),
            out.end());
  return out;
}

FixEdits FixKeywordArguments(const FixRequest& request) {
  const PyNode* call = request.node;
  const Candidate& candidate = request.candidate;
  if (call == nullptr || request.problem == nullptr || !call->Is(PyKind::kCall) || call->value == nullptr)
    return {};
  const std::string dotted = candidate.python->scopes->Resolve(call->value);
  const bool is_function = StartsWith(dotted, "triton.language.");
  if (!is_function && !call->value->Is(PyKind::kAttribute)) return {};
  const size_t dot = dotted.rfind('.');
  std::string scope = is_function ? dotted.substr(0, dot) : "tensor";
  if (EndsWith(scope, "libdevice")) scope = "libdevice";
  const std::string name = is_function ? dotted.substr(dot + 1) : std::string(call->value->name);
  if (request.problem->subject != "tl." + name) return {};
  std::vector<CallSignature> signatures = WantedSignatures(candidate, scope, name);
  if (signatures.empty()) return {};
  return KeywordMender(candidate, call, name, std::move(signatures), !is_function).Make();
}

}  // namespace hone
