#include "analysis/constant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hone {

Constant Constant::None() {
  Constant c;
  c.kind = Kind::kNone;
  return c;
}

Constant Constant::Bool(bool value) {
  Constant c;
  c.kind = Kind::kBool;
  c.integer = value ? 1 : 0;
  return c;
}

Constant Constant::Int(int64_t value) {
  Constant c;
  c.kind = Kind::kInt;
  c.integer = value;
  return c;
}

Constant Constant::Float(double value) {
  Constant c;
  c.kind = Kind::kFloat;
  c.number = value;
  return c;
}

Constant Constant::String(std::string value) {
  Constant c;
  c.kind = Kind::kString;
  c.string = std::move(value);
  return c;
}

Constant Constant::Sequence(std::vector<Constant> items) {
  Constant c;
  c.kind = Kind::kSequence;
  c.items = std::move(items);
  return c;
}

bool Constant::truthy() const {
  switch (kind) {
    case Kind::kUnknown:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return integer != 0;
    case Kind::kFloat:
      return number != 0;
    case Kind::kString:
      return !string.empty();
    case Kind::kSequence:
    case Kind::kDict:
      return !items.empty();
  }
  return false;
}

const Constant* Constant::Lookup(std::string_view key) const {
  for (size_t i = 0; i < keys.size() && i < items.size(); ++i)
    if (keys[i] == key) return &items[i];
  return nullptr;
}

bool Constant::operator==(const Constant& other) const {
  if (is_number() && other.is_number()) return as_double() == other.as_double();
  if (kind != other.kind) return false;
  return string == other.string && items == other.items && keys == other.keys;
}

std::string Constant::Text() const {
  switch (kind) {
    case Kind::kUnknown:
      return "?";
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return integer != 0 ? "True" : "False";
    case Kind::kInt:
      return std::to_string(integer);
    case Kind::kFloat:
      return fmt::format("{}", number);
    case Kind::kString:
      return "'" + string + "'";
    case Kind::kSequence:
    case Kind::kDict: {
      std::string out = "(";
      for (size_t i = 0; i < items.size(); ++i) out += (i == 0 ? "" : ", ") + items[i].Text();
      return out + ")";
    }
  }
  return "?";
}

bool IsPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

namespace {

Constant IntPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return Constant::Float(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  int64_t out = 1;
  for (int64_t i = 0; i < exponent; ++i) {
    if (i > 64 || __builtin_mul_overflow(out, base, &out)) return {};
  }
  return Constant::Int(out);
}

// Python's // and %, which round towards minus infinity.
Constant IntDivide(int64_t left, int64_t right, bool modulo) {
  if (right == 0 || (left == INT64_MIN && right == -1)) return {};
  int64_t quotient = left / right;
  int64_t rest = left % right;
  if (rest != 0 && ((rest < 0) != (right < 0))) {
    --quotient;
    rest += right;
  }
  return Constant::Int(modulo ? rest : quotient);
}

Constant IntBinary(std::string_view op, int64_t left, int64_t right) {
  int64_t out = 0;
  if (op == "+") return __builtin_add_overflow(left, right, &out) ? Constant() : Constant::Int(out);
  if (op == "-") return __builtin_sub_overflow(left, right, &out) ? Constant() : Constant::Int(out);
  if (op == "*") return __builtin_mul_overflow(left, right, &out) ? Constant() : Constant::Int(out);
  if (op == "//") return IntDivide(left, right, false);
  if (op == "%") return IntDivide(left, right, true);
  if (op == "**") return IntPower(left, right);
  if (op == "&") return Constant::Int(left & right);
  if (op == "|") return Constant::Int(left | right);
  if (op == "^") return Constant::Int(left ^ right);
  if (op == "<<" && left >= 0 && right >= 0 && right < 62 && left <= (INT64_MAX >> right))
    return Constant::Int(left << right);
  if (op == ">>" && right >= 0 && right < 63) return Constant::Int(left >> right);
  if (op == "/" && right != 0) return Constant::Float(static_cast<double>(left) / static_cast<double>(right));
  return {};
}

}  // namespace

Constant FoldBinary(std::string_view op, const Constant& left, const Constant& right) {
  if (!left.known() || !right.known()) return {};
  if (left.is_int() && right.is_int()) return IntBinary(op, left.integer, right.integer);
  if (left.is_number() && right.is_number()) {
    const double a = left.as_double();
    const double b = right.as_double();
    if (op == "+") return Constant::Float(a + b);
    if (op == "-") return Constant::Float(a - b);
    if (op == "*") return Constant::Float(a * b);
    if (op == "/" && b != 0) return Constant::Float(a / b);
    if (op == "//" && b != 0) return Constant::Float(std::floor(a / b));
    if (op == "**") return Constant::Float(std::pow(a, b));
    return {};
  }
  if (op == "+" && left.kind == right.kind) {
    if (left.kind == Constant::Kind::kString) return Constant::String(left.string + right.string);
    if (left.kind == Constant::Kind::kSequence && left.items.size() + right.items.size() <= 64) {
      std::vector<Constant> items = left.items;
      items.insert(items.end(), right.items.begin(), right.items.end());
      return Constant::Sequence(std::move(items));
    }
  }
  return {};
}

Constant FoldCompare(std::string_view op, const Constant& left, const Constant& right) {
  if (!left.known() || !right.known()) return {};
  if (op == "==") return Constant::Bool(left == right);
  if (op == "!=") return Constant::Bool(!(left == right));
  const bool none = left.kind == Constant::Kind::kNone || right.kind == Constant::Kind::kNone;
  if (op == "is" && none) return Constant::Bool(left.kind == right.kind);
  if (op == "is not" && none) return Constant::Bool(left.kind != right.kind);
  if (op == "in" || op == "not in") {
    if (right.kind != Constant::Kind::kSequence) return {};
    for (const Constant& item : right.items)
      if (!item.known()) return {};
    const bool found = std::find(right.items.begin(), right.items.end(), left) != right.items.end();
    return Constant::Bool(found == (op == "in"));
  }
  if (!left.is_number() || !right.is_number()) return {};
  const double a = left.as_double();
  const double b = right.as_double();
  if (op == "<") return Constant::Bool(a < b);
  if (op == "<=") return Constant::Bool(a <= b);
  if (op == ">") return Constant::Bool(a > b);
  if (op == ">=") return Constant::Bool(a >= b);
  return {};
}

Constant FoldUnary(std::string_view op, const Constant& value) {
  if (!value.known()) return {};
  if (op == "not") return Constant::Bool(!value.truthy());
  if (op == "-" && value.is_int() && value.integer != INT64_MIN) return Constant::Int(-value.integer);
  if (op == "-" && value.kind == Constant::Kind::kFloat) return Constant::Float(-value.number);
  if (op == "+" && value.is_number()) return value;
  if (op == "~" && value.is_int()) return Constant::Int(~value.integer);
  return {};
}

Constant FoldCall(std::string_view function, const std::vector<Constant>& args) {
  for (const Constant& arg : args)
    if (!arg.known()) return {};
  if (args.empty()) return {};
  const Constant& first = args[0];
  if (function == "min" || function == "max") {
    const std::vector<Constant>& items = args.size() == 1 ? first.items : args;
    if (items.empty()) return {};
    const Constant* best = &items[0];
    for (const Constant& item : items) {
      if (!item.is_number()) return {};
      if (function == "min" ? item.as_double() < best->as_double() : item.as_double() > best->as_double())
        best = &item;
    }
    return *best;
  }
  if (function == "len" && first.kind == Constant::Kind::kSequence)
    return Constant::Int(static_cast<int64_t>(first.items.size()));
  if (function == "abs" && first.is_int() && first.integer != INT64_MIN)
    return Constant::Int(std::abs(first.integer));
  if (function == "bool") return Constant::Bool(first.truthy());
  const bool finite =
      first.is_number() && std::isfinite(first.as_double()) && std::abs(first.as_double()) < 9e15;
  if (!finite) return {};
  if (function == "int") return Constant::Int(static_cast<int64_t>(first.as_double()));
  if (function == "float") return Constant::Float(first.as_double());
  if (function == "math.ceil") return Constant::Int(static_cast<int64_t>(std::ceil(first.as_double())));
  if (function == "math.floor") return Constant::Int(static_cast<int64_t>(std::floor(first.as_double())));
  if (function == "math.sqrt" && first.as_double() >= 0) return Constant::Float(std::sqrt(first.as_double()));
  if (function == "math.log2" && first.as_double() > 0) return Constant::Float(std::log2(first.as_double()));
  if (function == "triton.next_power_of_2" && first.is_int() && first.integer > 0) {
    int64_t power = 1;
    while (power < first.integer) power *= 2;
    return Constant::Int(power);
  }
  const bool cdiv = function == "triton.cdiv" || function == "triton.language.cdiv";
  if (cdiv && args.size() == 2 && first.is_int() && args[1].is_int() && args[1].integer > 0 &&
      first.integer >= 0)
    return Constant::Int((first.integer + args[1].integer - 1) / args[1].integer);
  return {};
}

}  // namespace hone
