#include "codegen/fused/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"

namespace hone::fused {

std::string Literal(double number, DType dtype) {
  if (dtype == DType::kBool) return number != 0 ? "true" : "false";
  if (!graph::IsFloating(dtype))
    return fmt::format("({}){}LL", ComputedType(dtype), static_cast<int64_t>(number));
  const bool wide = dtype == DType::kFloat64;
  if (std::isnan(number)) return fmt::format("({})HONE_NAN", ComputedType(dtype));
  if (std::isinf(number)) return fmt::format("({}){}HONE_INF", ComputedType(dtype), number < 0 ? "-" : "");
  std::string text = wide ? fmt::format("{:.17g}", number)
                          : fmt::format("{:.9g}", static_cast<double>(static_cast<float>(number)));
  if (!wide && std::isinf(static_cast<float>(number))) return number < 0 ? "-HONE_INF" : "HONE_INF";
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return "(" + text + (wide ? ")" : "f)");
}

std::string Offset(const std::vector<Step1>& steps, const std::string& index) {
  std::vector<std::string> terms;
  int64_t inner = 1;
  for (size_t i = steps.size(); i-- > 0;) {
    const Step1& step = steps[i];
    bool outermost = true;
    for (size_t j = 0; j < i; ++j) outermost = outermost && steps[j].size == 1;
    if (step.size > 1 && step.stride != 0) {
      std::string at = index;
      if (inner > 1) at = fmt::format("{} / {}u", at, inner);
      if (!outermost) at = fmt::format("{} % {}u", at, step.size);
      terms.push_back(step.stride == 1 ? fmt::format("(long long)({})", at)
                                       : fmt::format("(long long)({}) * {}", at, step.stride));
    }
    inner *= step.size;
  }
  std::reverse(terms.begin(), terms.end());
  return terms.empty() ? "0" : Join(terms, " + ");
}

std::string Printer::TypeOf(DType dtype, bool per_row) const {
  return InVectors(per_row) ? fmt::format("Lanes<{}>", ComputedType(dtype)) : ComputedType(dtype);
}

std::string Printer::Type(int instruction) const {
  return TypeOf(program_.at(at(instruction).item).dtype, at(instruction).per_row);
}

std::string Printer::NameIn(int instruction, bool vectors) const {
  const Instruction& it = at(instruction);
  const Item& item = program_.at(it.item);
  if (it.kind == ItemKind::kReduce) return fmt::format("state.r{}", instruction);
  std::string name = it.kind == ItemKind::kNumber ? Literal(item.number, item.dtype)
                                                  : fmt::format("{}t{}", it.per_row ? "s." : "", instruction);
  const bool is_vector = it.kind != ItemKind::kNumber && InVectors(it.per_row);
  return vectors && !is_vector ? fmt::format("Lanes<{}>({})", ComputedType(item.dtype), name) : name;
}

std::string Printer::Gathered(int instruction) const {
  const Instruction& it = at(instruction);
  const DType dtype = program_.at(it.item).dtype;
  const bool vectors = InVectors(it.per_row);
  const auto address = addresses_.find(instruction);
  std::vector<std::string> terms;
  for (size_t i = 0; i < it.axis_strides.size(); ++i)
    terms.push_back(vectors
                        ? fmt::format("Lanes<long long>({}) * Lanes<long long>({}LL)",
                                      NameIn(it.args[i], true), it.axis_strides[i])
                        : fmt::format("(long long){} * {}", NameIn(it.args[i], false), it.axis_strides[i]));
  std::string guard = vectors ? "Lanes<bool>(true)" : "true";
  if (it.args.size() > it.axis_strides.size()) guard = NameIn(it.args.back(), vectors);
  const std::string from = address == addresses_.end() ? "" : address->second.first;
  const std::string types = fmt::format("<{}, {}>", ComputedType(dtype), StoredType(dtype));
  if (!vectors) return fmt::format("fetch_at{}({}, {}, {})", types, from, Join(terms, " + "), guard);
  return fmt::format("gather{}({}, {}, {}, SOME ? n : kLanes, {})", types, from, Join(terms, " + "),
                     address == addresses_.end() ? 0 : address->second.second, guard);
}

std::string Printer::Expression(int instruction) const {
  const Instruction& it = at(instruction);
  const Item& item = program_.at(it.item);
  if (const auto given = given_.find(instruction); given != given_.end()) return given->second;
  const bool vectors = InVectors(it.per_row);
  const std::string type = TypeOf(item.dtype, it.per_row);
  if (it.kind == ItemKind::kGather) return Gathered(instruction);
  if (it.kind == ItemKind::kField) {
    const std::string field = NameIn(it.args[0], false) + "." + item.op;
    return vectors ? fmt::format("{}({})", type, field) : field;
  }
  std::string out;
  const std::string& op = item.op;
  for (size_t i = 0; i < op.size(); ++i) {
    if (op[i] != '$' || i + 1 == op.size()) {
      out += op[i];
      continue;
    }
    ++i;
    out += op[i] == 'C' ? type : NameIn(it.args[static_cast<size_t>(op[i] - '0')], vectors);
  }
  return out;
}

std::string Printer::Statement(int instruction) const {
  const std::string value = Expression(instruction);
  if (at(instruction).per_row) return fmt::format("s.t{} = {};", instruction, value);
  return fmt::format("const {} t{} = {};", Type(instruction), instruction, value);
}

Printer::Closure Printer::ElementClosure(const std::vector<int>& roots) const {
  std::set<int> statements, loads;
  std::vector<int> todo = roots;
  while (!todo.empty()) {
    const int next = todo.back();
    todo.pop_back();
    const Instruction& it = at(next);
    if (it.per_row || it.kind == ItemKind::kNumber || it.kind == ItemKind::kReduce) continue;
    if (it.kind == ItemKind::kTensor || it.kind == ItemKind::kPlace || it.kind == ItemKind::kWindow ||
        it.kind == ItemKind::kScan) {
      loads.insert(next);
      continue;
    }
    if (!statements.insert(next).second || given_.count(next) != 0) continue;
    for (const int arg : it.args) todo.push_back(arg);
  }
  return {{statements.begin(), statements.end()}, {loads.begin(), loads.end()}};
}

}  // namespace hone::fused
