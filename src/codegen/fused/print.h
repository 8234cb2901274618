// Prints a kernel's instructions as statements of a language. Items describe computations in one notation
// ("Select($0 > ($C)0, $0, $1)"). A language defines the names of types, literals and row values. CUDA C++
// computes one element per statement, C++ for a CPU a vector of elements (Lanes of part_fused_cpu.cpp).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/fused/groups.h"

namespace hone::fused {

// A size of the collapsed domain, with an operand's stride along it.
struct Step1 {
  int64_t size = 1;
  int64_t stride = 0;
};

enum class Language { kCuda, kCpp, kTriton };

class Printer {
 public:
  Printer(Language language, const Program& program, const Kernel& kernel)
      : language_(language), program_(program), kernel_(kernel) {}

  // Replaces the instruction by an expression with known parts, so its arguments are not computed again.
  void Give(int instruction, std::string expression) { given_[instruction] = std::move(expression); }
  // The address of a gather's elements before the index is added. In vectors, lanes are `step` apart.
  void GiveAddress(int instruction, std::string address, int64_t step = 0) {
    addresses_[instruction] = {std::move(address), step};
  }
  // If rows are adjacent in a vector, a row's value is a vector too.
  void RowsAreVectors() { rows_are_vectors_ = true; }

  // The name of an instruction's value in code for elements, and its type there.
  std::string Name(int instruction) const { return NameIn(instruction, InVectors(false)); }
  // The same in code that runs once per row.
  std::string RowName(int instruction) const { return NameIn(instruction, InVectors(true)); }
  std::string Type(int instruction) const;
  std::string TypeOf(DType dtype, bool per_row) const;
  // "const float t7 = Relu(t6);" for elements, "s.t7 = Relu(s.t6);" for rows.
  std::string Statement(int instruction) const;
  // Only the expression.
  std::string Expression(int instruction) const;
  // The instructions that `roots` need and that are not known per row, separated into statements and loads.
  struct Closure {
    std::vector<int> statements;
    std::vector<int> loads;  // also windows and places
  };
  Closure ElementClosure(const std::vector<int>& roots) const;

 private:
  const Instruction& at(int instruction) const {
    return kernel_.instructions[static_cast<size_t>(instruction)];
  }
  bool InVectors(bool per_row) const {
    return language_ == Language::kCpp && (!per_row || rows_are_vectors_);
  }
  std::string NameIn(int instruction, bool vectors) const;
  std::string Gathered(int instruction) const;

  const Language language_;
  const Program& program_;
  const Kernel& kernel_;
  bool rows_are_vectors_ = false;
  std::map<int, std::string> given_;
  std::map<int, std::pair<std::string, int64_t>> addresses_;
};

// A number as a literal of the type: 0.5f, 3LL, true.
std::string Literal(double number, DType dtype);
// The offset of point `index` (an expression) in a part of the domain, outermost axis first: "(long long)(i /
// 64u % 8u) * 512 + i % 64u".
std::string Offset(const std::vector<Step1>& steps, const std::string& index);

}  // namespace hone::fused
