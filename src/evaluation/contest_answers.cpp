#include "evaluation/contest_answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "evaluation/compare.h"

namespace hone {

void TimedAnswers::Take(const TimedSide& side, bool long_block, int calls, const Span& span) {
  Kept& kept = kept_[side.is_candidate() ? 1 : 0][long_block ? 1 : 0];
  kept.answers = side.answers();
  kept.calls = calls;
  kept.odd = span.odd;
  kept.inputs_intact = side.inputs_intact();
  stride_ = side.stride();
  leaves_ = side.leaves();
}

Result<AnswerCheck> TimedAnswers::Compare(const ReferenceSession& session, TimedMemory& memory) const {
  AnswerCheck check;
  for (int block = 0; block < 2; ++block) {
    const Kept& got = kept_[1][block];
    const Kept& want = kept_[0][block];
    check.inputs_changed = check.inputs_changed || (!got.inputs_intact && want.inputs_intact);
    // Answers whose shape depends on the values do not fit the arena; the shapes must agree at the least.
    const bool odd = got.odd.is_array() || want.odd.is_array();
    bool unchanged = true;
    if (got.calls > 0) {
      HONE_ASSIGN_OR_RETURN(unchanged, memory.Unchanged(got.answers));
    }
    for (int call = 0; call < std::min(got.calls, want.calls); ++call) {
      ++check.checked;
      double over = !unchanged || (odd && got.odd != want.odd) ? 1e9 : 0;
      for (size_t i = 0; !odd && i < leaves_.size(); ++i) {
        const TensorLeaf& leaf = leaves_[i];
        const size_t at = static_cast<size_t>(call) * stride_ + leaf.offset;
        HONE_ASSIGN_OR_RETURN(const Distance distance, memory.Compare(leaf.dtype, got.answers, want.answers,
                                                                      at, leaf.bytes, leaf.shape));
        // Both sides are rounded here, and the inputs are not those of the trials, so the limit is doubled.
        const Limit limit = session.LimitFor(0, i);
        over = std::max({over, distance.relative / std::max(2 * limit.relative, 1e-30),
                         IsFloating(leaf.dtype) ? distance.scaled / (2 * limit.scaled) : 0.0,
                         distance.non_finite > 0 ? 1e9 : 0.0});
      }
      if (over > 1) ++check.wrong;
      if (over < check.worst) continue;
      check.worst = over;
      check.worst_at = fmt::format("call {} of a timed block", call + 1);
    }
  }
  return check;
}

}  // namespace hone
