#include "codegen/fused/formula.h"

#include <fmt/format.h>

#include <cctype>
#include <utility>

#include "base/text.h"

namespace hone::fused {

namespace {

constexpr int kMostDepth = 64;

// Binary operators, weakest first. Operators in one row have equal precedence and associate to the left.
const std::vector<std::vector<std::string>>& OperatorRows() {
  static const std::vector<std::vector<std::string>> kRows = {
      {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/"}};
  return kRows;
}

class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  Result<Formula> Parse() {
    HONE_ASSIGN_OR_RETURN(Formula formula, Binary(0));
    Skip();
    if (at_ != text_.size()) return Fail("an operator");
    return formula;
  }

 private:
  Error Fail(const char* expected) const {
    return Error{ErrorKind::kInternal,
                 fmt::format("'{}': {} was expected at character {}", text_, expected, at_)};
  }
  void Skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(std::string_view word) {
    Skip();
    if (!StartsWith(text_.substr(at_), word)) return false;
    at_ += word.size();
    return true;
  }
  static Formula Node(Formula::Kind kind, std::string text, std::vector<Formula> parts) {
    Formula node;
    node.kind = kind;
    node.text = std::move(text);
    node.parts = std::move(parts);
    return node;
  }

  Result<Formula> Binary(size_t row) {
    if (row == OperatorRows().size()) return Unary();
    HONE_ASSIGN_OR_RETURN(Formula left, Binary(row + 1));
    while (true) {
      std::string found;
      for (const std::string& sign : OperatorRows()[row])
        if (found.empty() && Take(sign)) found = sign;
      if (found.empty()) return left;
      HONE_ASSIGN_OR_RETURN(Formula right, Binary(row + 1));
      std::vector<Formula> parts;
      parts.push_back(std::move(left));
      parts.push_back(std::move(right));
      left = Node(Formula::Kind::kBinary, found, std::move(parts));
    }
  }

  Result<Formula> Unary() {
    if (++depth_ > kMostDepth) return Fail("less nesting");
    Result<Formula> made = UnaryInside();
    --depth_;
    return made;
  }
  Result<Formula> UnaryInside() {
    for (const char* sign : {"-", "!"})
      if (Take(sign)) {
        HONE_ASSIGN_OR_RETURN(Formula of, Unary());
        return Node(Formula::Kind::kUnary, sign, {std::move(of)});
      }
    if (Take("($C)")) {
      HONE_ASSIGN_OR_RETURN(Formula of, Unary());
      return Node(Formula::Kind::kCast, "", {std::move(of)});
    }
    return Primary();
  }

  Result<Formula> Primary() {
    if (Take("(")) {
      HONE_ASSIGN_OR_RETURN(Formula inside, Binary(0));
      if (!Take(")")) return Fail("')'");
      return inside;
    }
    Skip();
    const auto run = [&](auto&& belongs) {
      const size_t first = at_;
      while (at_ < text_.size() && belongs(static_cast<unsigned char>(text_[at_]))) ++at_;
      return std::string(text_.substr(first, at_ - first));
    };
    if (Take("$")) {
      const std::string digits = run([](unsigned char c) { return std::isdigit(c) != 0; });
      if (digits.empty()) return Fail("an argument's number");
      Formula node = Node(Formula::Kind::kArgument, "", {});
      node.argument = static_cast<size_t>(std::stoi(digits));
      return node;
    }
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
      return Node(Formula::Kind::kNumber,
                  run([](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; }), {});
    const std::string name = run([](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (name == "HONE_NAN" || name == "HONE_INF") return Node(Formula::Kind::kNumber, name, {});
    if (name.empty() || !Take("(")) return Fail("a value");
    std::vector<Formula> parts;
    do {
      HONE_ASSIGN_OR_RETURN(Formula part, Binary(0));
      parts.push_back(std::move(part));
    } while (Take(","));
    if (!Take(")")) return Fail("')'");
    return Node(Formula::Kind::kCall, name, std::move(parts));
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Formula> ParseFormula(std::string_view text) {
  return FormulaParser(text).Parse();
}

}  // namespace hone::fused
