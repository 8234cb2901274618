// Fixes a variable that a loop changes to another type or shape, if it starts as a number or a constant
// block: the number starts as a float, or as a block of the loop's shape; the block starts as float32.
#include <fmt/format.h>

#include <set>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

// The only assignment of the name outside the loop, if it always precedes the loop; otherwise null.
const PyNode* StartOf(const Candidate& candidate, const Kernel& kernel, const PyNode* loop,
                      std::string_view name) {
  const PyNode* scope = nullptr;
  const std::vector<Binding>* bindings = candidate.python->scopes->Find(name, loop, &scope);
  if (bindings == nullptr || scope != kernel.function) return nullptr;
  const PyNode* start = nullptr;
  for (const Binding& binding : *bindings) {
    if (IsInside(binding.node, loop)) continue;
    const bool before = binding.node->start < loop->start && IsInside(loop, binding.node->parent);
    if (start != nullptr || !before || !binding.node->Is(PyKind::kAssign)) return nullptr;
    start = binding.value;
  }
  return start;
}

// True for a literal number with its sign, also float("-inf").
bool IsWrittenNumber(const PyNode* node) {
  if (node->Is(PyKind::kUnaryOp) && (node->op == "-" || node->op == "+")) return IsWrittenNumber(node->value);
  if (node->Is(PyKind::kInt)) return !node->big;
  if (node->Is(PyKind::kFloat)) return true;
  return node->Is(PyKind::kCall) && node->value->IsName("float") && node->args.size() == 1 &&
         node->args[0]->Is(PyKind::kString) && node->keywords.empty();
}

const PyNode* Unsigned(const PyNode* number) {
  return number->Is(PyKind::kUnaryOp) ? Unsigned(number->value) : number;
}

// The extents by the names in the kernel's own ranges; "" if an extent has no name or two.
std::string ShapeText(const Candidate& candidate, const KernelProblem& problem, const KernelTrace& trace,
                      const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t extent : shape) {
    std::set<std::string> names;
    for (const auto& [use, its] : trace.range_extents) {
      const auto& [node, launch, config] = use;
      if (launch != problem.launch || config != problem.config || its != extent) continue;
      const bool from_zero =
          node->args.size() == 2 && node->args[0]->Is(PyKind::kInt) && node->args[0]->integer == 0;
      names.insert(from_zero ? Code(candidate, node->args[1]) : std::string());
    }
    if (extent <= 0 || names.size() != 1 || names.begin()->empty()) return "";
    text += *names.begin() + ", ";
  }
  if (shape.size() > 1 && EndsWith(text, ", ")) text.resize(text.size() - 2);
  if (shape.size() == 1) text.pop_back();
  return "(" + text + ")";
}

FixEdits StartAsBlock(const FixRequest& request, const KernelTrace& trace, const PyNode* start,
                      const KernelValue& later) {
  const Candidate& candidate = request.candidate;
  const bool whole = Unsigned(start)->Is(PyKind::kInt);
  const bool is_float = later.is_float || StartsWith(later.element, "fp") || StartsWith(later.element, "bf");
  if (whole && !is_float) return {};
  const std::string shape = ShapeText(candidate, *request.problem, trace, later.shape);
  if (shape.empty()) return {};
  FixEdits edits;
  const std::string language = EnsureLanguage(candidate, &edits);
  if (language.empty()) return {};
  const PyNode* number = Unsigned(start);
  const bool zero = (whole && number->integer == 0) || (number->Is(PyKind::kFloat) && number->number == 0);
  edits.push_back({start->start, start->end,
                   zero ? fmt::format("{0}.zeros({1}, dtype={0}.float32)", language, shape)
                        : fmt::format("{0}.full({1}, {2}{3}, dtype={0}.float32)", language, shape,
                                      Code(candidate, start), whole ? ".0" : "")});
  return edits;
}

// The dtype of tl.zeros and tl.full; null if it is not a type of the language.
const PyNode* TypeOfBlock(const Candidate& candidate, const PyNode* call) {
  if (!call->Is(PyKind::kCall)) return nullptr;
  const Scopes& scopes = *candidate.python->scopes;
  const std::string callee = scopes.Resolve(call->value);
  const size_t index = callee == "triton.language.zeros" ? 1 : callee == "triton.language.full" ? 2 : 0;
  if (index == 0) return nullptr;
  const PyNode* type = call->Keyword("dtype");
  if (type == nullptr && index < call->args.size()) type = call->args[index];
  return type != nullptr && StartsWith(scopes.Resolve(type), "triton.language.") ? type : nullptr;
}

}  // namespace

FixEdits FixLoopStart(const FixRequest& request) {
  const PyNode* loop = request.node;
  const KernelProblem* problem = request.problem;
  if (loop == nullptr || problem == nullptr || problem->sides.size() != 2 ||
      (!loop->Is(PyKind::kFor) && !loop->Is(PyKind::kWhile)))
    return {};
  const Candidate& candidate = request.candidate;
  const Kernel* kernel = KernelAround(candidate, loop);
  const KernelTrace* trace = kernel != nullptr ? candidate.TraceOf(kernel) : nullptr;
  if (trace == nullptr) return {};
  const PyNode* start = StartOf(candidate, *kernel, loop, problem->subject);
  if (start == nullptr) return {};
  const KernelValue& before = problem->sides[0];
  const KernelValue& later = problem->sides[1];
  if (IsWrittenNumber(start)) {
    if (later.is_block()) return StartAsBlock(request, *trace, start, later);
    if (!Unsigned(start)->Is(PyKind::kInt) || !(later.is_float || later.element == "fp32")) return {};
    return {Insert(start->end, ".0")};
  }
  const PyNode* type = TypeOfBlock(candidate, start);
  const bool half = before.element == "fp16" || before.element == "bf16";
  const bool widens = (StartsWith(before.element, "int") && (later.is_float || later.element == "fp32")) ||
                      (half && later.element == "fp32");
  if (type == nullptr || !widens || before.shape != later.shape) return {};
  FixEdits edits;
  const std::string language = EnsureLanguage(candidate, &edits);
  if (language.empty()) return {};
  edits.push_back({type->start, type->end, language + ".float32"});
  return edits;
}

}  // namespace hone
