// Prints instructions of a kernel as statements of a language. Items say what is computed in one notation
// ("Select($0 > ($C)0, $0, $1)"); a language says what a type, a literal and a value of a row are called.
// CUDA C++ computes one element in a statement, C++ for a CPU a vector of elements (Lanes of
// part_fused_cpu.cpp).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/fused/groups.h"

namespace hone::fused {

// A size of the (collapsed) domain with an operand's stride along it.
struct Step1 {
  int64_t size = 1;
  int64_t stride = 0;
};

enum class Language { kCuda, kCpp, kTriton };

class Printer {
 public:
  Printer(Language language, const Program& program, const Kernel& kernel)
      : language_(language), program_(program), kernel_(kernel) {}

  // The instruction is this expression, whose parts are at hand: its arguments are not computed again.
  void Give(int instruction, std::string expression) { given_[instruction] = std::move(expression); }
  // Where the elements of a gather lie before an index moves them; in vectors, `step` from lane to lane.
  void GiveAddress(int instruction, std::string address, int64_t step = 0) {
    addresses_[instruction] = {std::move(address), step};
  }
  // Where rows lie side by side in a vector, what belongs to a row is a vector as well.
  void RowsAreVectors() { rows_are_vectors_ = true; }

  // What an instruction's value is called where elements are computed, and its type there.
  std::string Name(int instruction) const { return NameIn(instruction, InVectors(false)); }
  // The same where something is computed once per row.
  std::string RowName(int instruction) const { return NameIn(instruction, InVectors(true)); }
  std::string Type(int instruction) const;
  std::string TypeOf(DType dtype, bool per_row) const;
  // "const float t7 = Relu(t6);" for elements, "s.t7 = Relu(s.t6);" for rows.
  std::string Statement(int instruction) const;
  // The expression alone.
  std::string Expression(int instruction) const;
  // The instructions that `roots` need and that are not known per row, loads left out; and the loads among
  // them.
  struct Closure {
    std::vector<int> statements;
    std::vector<int> loads;  // and windows and places
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
// The offset of point `index` (an expression) of a part of the domain, outermost axis first: "(long long)(i /
// 64u % 8u) * 512 + i % 64u".
std::string Offset(const std::vector<Step1>& steps, const std::string& index);

}  // namespace hone::fused
