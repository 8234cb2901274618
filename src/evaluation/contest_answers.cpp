#include "evaluation/contest_answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "evaluation/compare.h"

namespace hone {

void TimedAnswers::Take(const TimedSide& side, bool long_block, int calls, const Span& span) {
  Kept& kept = kept_[side.is_candidate() ? 1 : 0][long_block ? 1 : 0];
  kept.bytes = side.KeepAnswers(calls);
  kept.calls = calls;
  kept.odd = span.odd;
  kept.inputs_intact = side.inputs_intact();
  stride_ = side.stride();
  leaves_ = side.leaves();
}

AnswerCheck TimedAnswers::Compare(const ReferenceSession& session) const {
  AnswerCheck check;
  for (int block = 0; block < 2; ++block) {
    const Kept& got = kept_[1][block];
    const Kept& want = kept_[0][block];
    check.inputs_changed = check.inputs_changed || (!got.inputs_intact && want.inputs_intact);
    // Answers whose shape depends on the values do not fit the arena; the shapes must agree at the least.
    const bool odd = got.odd.is_array() || want.odd.is_array();
    for (int call = 0; call < std::min(got.calls, want.calls); ++call) {
      ++check.checked;
      double over = odd && got.odd != want.odd ? 1e9 : 0;
      for (size_t i = 0; !odd && i < leaves_.size(); ++i) {
        const TensorLeaf& leaf = leaves_[i];
        const size_t at = static_cast<size_t>(call) * stride_ + leaf.offset;
        const std::span<const std::byte> mine = std::span(got.bytes).subspan(at, leaf.bytes);
        const std::span<const std::byte> theirs = std::span(want.bytes).subspan(at, leaf.bytes);
        const Distance distance = hone::Compare(leaf.dtype, mine, leaf.dtype, theirs);
        // Both sides are rounded here, and the inputs are not those of the trials, so the limit is doubled.
        const double limit = std::max(2 * session.LimitFor(0, i).relative, 1e-30);
        over = std::max(over, distance.non_finite > 0 ? 1e9 : distance.relative / limit);
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
