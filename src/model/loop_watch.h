// Detects endless repetition by a model that is stuck. Two kinds count:
// - the same text over and over: the last 8 KB or more repeat at least three times, with a period of up to
//   16 KB;
// - text that differs in its numbers alone, such as lines with a counter: 32 KB repeat at least 16 times,
// with a
//   period of up to 2 KB (64 KB: 4 KB), and every number goes on by the same few steps.
// Unrolled code ends before that. In tables of constants the numbers do not go on by equal steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

class LoopWatch {
 public:
  // Returns true once the text repeats itself, and stays true. The pieces in which the text comes do not
  // matter.
  bool Add(std::string_view piece);

 private:
  bool RepeatsItself() const;
  bool CountsOn() const;
  void Shape(std::string_view piece);
  void Forget();

  std::string tail_;
  std::string shape_;              // the text with a mark in place of each number
  std::vector<uint64_t> numbers_;  // of the marks in shape_
  uint64_t number_ = 0;            // the one that has begun
  bool in_number_ = false;
  size_t until_look_ = 0;
  int looks_ = 0;
  bool loops_ = false;
};

}  // namespace hone
