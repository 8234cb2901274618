// The answers of the candidate and a baseline to the same inputs, from a round's timed calls. Each answer of
// the candidate is compared with the baseline's, element by element.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "evaluation/timed_side.h"

namespace hone {

struct AnswerCheck {
  int checked = 0;
  int wrong = 0;
  double worst = 0;  // largest distance relative to its limit; wrong above 1
  std::string worst_at;
  bool inputs_changed = false;  // the candidate's calls changed inputs that the baseline's did not
};

// Whether an answer is right although it is far from the baseline's. Both are rounded. For badly conditioned
// inputs, or if a comparison of two numbers decides, they may differ more than in the trials. The tree is the
// candidate's answer to that call of the block.
using SecondLook = std::function<Result<bool>(bool long_block, int call, const TensorTree& answer)>;

class TimedAnswers {
 public:
  void Restart() { *this = TimedAnswers(); }
  // Stores the answers of the side's last block.
  void Take(const TimedSide& side, bool long_block, int calls, const Span& span);
  // `ranges` is given by output for a candidate whose random draws differ from the baseline's, else empty.
  Result<AnswerCheck> Compare(const ReferenceSession& session, TimedMemory& memory,
                              const std::vector<std::optional<DrawRange>>& ranges,
                              const SecondLook& look_again) const;

 private:
  struct Kept {
    KeptAnswers answers;
    int calls = 0;
    std::vector<AnswerForm> forms;
    bool inputs_intact = true;
  };
  // One call's answer: its form, and the offset of its values.
  struct Answer {
    const KeptAnswers& kept;
    const TensorTree& form;
    size_t base = 0;
    std::vector<double> numbers;
    bool lost = false;
  };
  Answer AnswerOf(const Kept& kept, int call) const;
  // The distance of two answers relative to the limit.
  Result<double> Over(const ReferenceSession& session, TimedMemory& memory,
                      const std::vector<std::optional<DrawRange>>& ranges, const Answer& got,
                      const Answer& want) const;

  Kept kept_[2][2];  // indices: [candidate][long block]
  size_t stride_ = 0;
  TensorTree form_;
};

}  // namespace hone
