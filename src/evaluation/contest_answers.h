// The answers of a round's timed calls: the candidate's and a baseline's, to the same inputs. Each of the
// candidate's is compared with the baseline's, element by element.
#pragma once

#include <string>
#include <vector>

#include "evaluation/timed_side.h"

namespace hone {

struct AnswerCheck {
  int checked = 0;
  int wrong = 0;
  double worst = 0;  // largest distance relative to its limit; above 1 is wrong
  std::string worst_at;
  bool inputs_changed = false;  // by the candidate's calls, where the baseline's change nothing
};

class TimedAnswers {
 public:
  void Restart() { *this = TimedAnswers(); }
  // Keeps what the side's last block answered.
  void Take(const TimedSide& side, bool long_block, int calls, const Span& span);
  Result<AnswerCheck> Compare(const ReferenceSession& session, TimedMemory& memory) const;

 private:
  struct Kept {
    KeptAnswers answers;
    int calls = 0;
    Json odd;
    bool inputs_intact = true;
  };
  Kept kept_[2][2];  // [candidate][long block]
  size_t stride_ = 0;
  std::vector<TensorLeaf> leaves_;
};

}  // namespace hone
