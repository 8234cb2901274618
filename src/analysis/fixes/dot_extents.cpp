// Fixes tl.dot with unsupported operands: a vector, for which the product is written as a sum, and a literal
// K below 16, in a kernel where a tile of 16 computes the same.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/fixes/tile_size.h"
#include "base/text.h"

namespace hone {

namespace {

constexpr int64_t kLeastK = 16;

// Casts to float32, in which tl.dot accumulates halves; "" for integers, which it accumulates as integers.
std::string AsFloat(const Candidate& candidate, const PyNode* operand, const KernelValue& value,
                    const std::string& language) {
  if (value.element == "fp32") return Operand(candidate, operand);
  if (!value.element.empty() && value.element != "fp16" && value.element != "bf16") return "";
  return fmt::format("{}.to({}.float32)", Operand(candidate, operand), language);
}

FixEdits SumOfVector(const FixRequest& request) {
  const Candidate& candidate = request.candidate;
  const PyNode* call = request.node;
  const KernelValue& a = request.problem->sides[0];
  const KernelValue& b = request.problem->sides[1];
  for (const PyNode* keyword : call->keywords)
    if (keyword->name != "allow_tf32" && keyword->name != "input_precision") return {};
  const bool first = a.shape.size() == 1 && b.shape.size() == 2 && a.shape[0] == b.shape[0];
  const bool second = a.shape.size() == 2 && b.shape.size() == 1 && a.shape[1] == b.shape[0];
  if (!first && !second) return {};
  if ((first ? a.shape[0] : b.shape[0]) <= 0) return {};
  FixEdits edits;
  const std::string language = EnsureLanguage(candidate, &edits);
  if (language.empty()) return {};
  const std::string left = AsFloat(candidate, call->args[0], a, language);
  const std::string right = AsFloat(candidate, call->args[1], b, language);
  if (left.empty() || right.empty()) return {};
  const std::string sum = first ? fmt::format("{}.sum({}[:, None] * {}, axis=0)", language, left, right)
                                : fmt::format("{}.sum({} * {}[None, :], axis=1)", language, left, right);
  edits.push_back(ReplaceExpression(candidate, call, sum));
  return edits;
}

FixEdits RaiseK(const FixRequest& request) {
  const Candidate& candidate = request.candidate;
  const KernelProblem& problem = *request.problem;
  const Kernel* kernel = KernelAround(candidate, request.node);
  const std::vector<int64_t>& a = problem.sides[0].shape;
  const std::vector<int64_t>& b = problem.sides[1].shape;
  if (kernel == nullptr || a.size() != 2 || b.size() != 2 || a[1] != b[0] || a[1] < 1 || a[1] >= kLeastK)
    return {};
  const PyNode* number = nullptr;
  std::string_view param;
  for (const KernelParam& one : kernel->params) {
    if (!one.is_constexpr || !IsAnExtent(candidate, *kernel, one.name)) continue;
    const PyNode* its = TileNumber(candidate, *kernel, problem, one.name);
    if (its == nullptr || its->integer != a[1]) continue;
    if (number != nullptr) return {};
    number = its;
    param = one.name;
  }
  if (number == nullptr || !IsOnlyATile(candidate, *kernel, number, param, true)) return {};
  return {{number->start, number->end, std::to_string(kLeastK)}};
}

}  // namespace

FixEdits FixDotExtents(const FixRequest& request) {
  const PyNode* call = request.node;
  if (call == nullptr || request.problem == nullptr || !call->Is(PyKind::kCall) ||
      request.problem->subject != "tl.dot" || call->args.size() != 2 || request.problem->sides.size() != 2)
    return {};
  FixEdits edits = SumOfVector(request);
  return edits.empty() ? RaiseK(request) : edits;
}

}  // namespace hone
