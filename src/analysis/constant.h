// A Python value known without running code, or Unknown. Folding covers the operations by which candidates
// compute block sizes: arithmetic, comparisons, min and max, powers of two, short sequences and dictionaries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct Constant {
  enum class Kind { kUnknown, kNone, kBool, kInt, kFloat, kString, kSequence, kDict };

  Kind kind = Kind::kUnknown;
  int64_t integer = 0;  // also the value of a bool
  double number = 0;
  std::string string;
  std::vector<Constant> items;
  std::vector<std::string> keys;  // keys of a dict with string keys, parallel to items

  static Constant Unknown() { return {}; }
  static Constant None();
  static Constant Bool(bool value);
  static Constant Int(int64_t value);
  static Constant Float(double value);
  static Constant String(std::string value);
  static Constant Sequence(std::vector<Constant> items);

  bool known() const { return kind != Kind::kUnknown; }
  bool is_int() const { return kind == Kind::kInt || kind == Kind::kBool; }
  bool is_number() const { return is_int() || kind == Kind::kFloat; }
  double as_double() const { return kind == Kind::kFloat ? number : static_cast<double>(integer); }
  bool truthy() const;
  const Constant* Lookup(std::string_view key) const;
  bool operator==(const Constant& other) const;
  // The text that Python prints.
  std::string Text() const;
};

Constant FoldBinary(std::string_view op, const Constant& left, const Constant& right);
Constant FoldCompare(std::string_view op, const Constant& left, const Constant& right);
Constant FoldUnary(std::string_view op, const Constant& value);
// Evaluates builtins and Triton's host helpers: "min", "triton.next_power_of_2", "math.ceil", ...
Constant FoldCall(std::string_view function, const std::vector<Constant>& args);

bool IsPowerOfTwo(int64_t value);

}  // namespace hone
