#include "evaluation/contest_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "evaluation/compare.h"
#include "evaluation/trial_judge.h"

namespace hone {

namespace {

constexpr double kOtherAnswer = 1e9;  // a different structure has no meaningful distance

bool SameForm(const TensorTree& a, const TensorTree& b) {
  if (&a == &b) return true;
  if (a.structure != b.structure || a.leaves.size() != b.leaves.size()) return false;
  for (size_t i = 0; i < a.leaves.size(); ++i)
    if (a.leaves[i].shape != b.leaves[i].shape || a.leaves[i].dtype != b.leaves[i].dtype) return false;
  return true;
}

}  // namespace

void TimedAnswers::Take(const TimedSide& side, bool long_block, int calls, const Span& span) {
  Kept& kept = kept_[side.is_candidate() ? 1 : 0][long_block ? 1 : 0];
  kept.answers = side.answers();
  kept.calls = calls;
  kept.forms = span.forms;
  kept.inputs_intact = side.inputs_intact();
  stride_ = side.stride();
  form_ = side.form();
}

TimedAnswers::Answer TimedAnswers::AnswerOf(const Kept& kept, int call) const {
  const AnswerForm& form = kept.forms[static_cast<size_t>(call)];
  if (form.other == nullptr)
    return {kept.answers, form_, static_cast<size_t>(call) * stride_, form.numbers, form.lost};
  std::vector<double> numbers;
  for (const TreeNumber& number : form.other->numbers) numbers.push_back(number.value);
  return {kept.answers, *form.other, form.base, std::move(numbers), form.lost};
}

Result<double> TimedAnswers::Over(const ReferenceSession& session, TimedMemory& memory,
                                  const std::vector<std::optional<DrawRange>>& ranges, const Answer& got,
                                  const Answer& want) const {
  if (got.lost || want.lost || !SameForm(got.form, want.form) ||
      got.numbers.size() != want.form.numbers.size() || want.numbers.size() != want.form.numbers.size())
    return kOtherAnswer;
  const Truth& truth = session.truth();
  double over = 0;
  for (size_t i = 0; i < want.numbers.size() && ranges.empty(); ++i) {
    const double allowed = NumberLimit(truth, i, want.numbers[i], want.form.numbers[i].whole);
    const double off = std::abs(got.numbers[i] - want.numbers[i]);
    if (off > 0) over = std::max(over, allowed > 0 ? off / (2 * allowed) : kOtherAnswer);
  }
  for (size_t i = 0; i < want.form.leaves.size(); ++i) {
    const TensorLeaf& leaf = want.form.leaves[i];
    const AnswerPart answer{got.kept, got.base + got.form.leaves[i].offset};
    const AnswerPart expected{want.kept, want.base + leaf.offset};
    HONE_ASSIGN_OR_RETURN(const Distance distance,
                          memory.Compare(leaf.dtype, answer, expected, leaf.bytes, leaf.shape));
    if (distance.non_finite > 0) return kOtherAnswer;
    if (i < ranges.size() && ranges[i]) {
      over = std::max(over, ranges[i]->Holds(distance.relative) ? 0.0 : kOtherAnswer);
      continue;
    }
    if (truth.rule.by_tolerance() && IsFloating(leaf.dtype)) {
      HONE_ASSIGN_OR_RETURN(const size_t far, memory.CountFar(leaf.dtype, answer, expected, leaf.bytes,
                                                              truth.rule.atol, truth.rule.rtol));
      over = std::max(over, far > 0 ? kOtherAnswer : 0.0);
      continue;
    }
    // Both sides are rounded here and the inputs are not those of the trials, so the limit is doubled.
    const Limit limit = session.LimitFor(0, i);
    const double share = truth.NormShare(0, i, distance);
    over = std::max({over, share * distance.relative / std::max(2 * limit.relative, 1e-30),
                     IsFloating(leaf.dtype) ? share * distance.scaled / (2 * limit.scaled) : 0.0});
  }
  return over;
}

Result<AnswerCheck> TimedAnswers::Compare(const ReferenceSession& session, TimedMemory& memory,
                                          const std::vector<std::optional<DrawRange>>& ranges,
                                          const SecondLook& look_again) const {
  AnswerCheck check;
  for (int block = 0; block < 2; ++block) {
    const Kept& got = kept_[1][block];
    const Kept& want = kept_[0][block];
    check.inputs_changed = check.inputs_changed || (!got.inputs_intact && want.inputs_intact);
    bool unchanged = true;
    if (got.calls > 0) {
      HONE_ASSIGN_OR_RETURN(unchanged, memory.Unchanged(got.answers));
    }
    for (int call = 0; call < std::min(got.calls, want.calls); ++call) {
      ++check.checked;
      const Answer answer = AnswerOf(got, call);
      double over = kOtherAnswer;
      if (unchanged) {
        HONE_ASSIGN_OR_RETURN(over, Over(session, memory, ranges, answer, AnswerOf(want, call)));
      }
      const bool whole = !answer.lost && answer.numbers.size() == answer.form.numbers.size();
      if (over > 1 && unchanged && whole && look_again != nullptr) {
        TensorTree form = answer.form;
        for (size_t i = 0; i < form.numbers.size(); ++i) form.numbers[i].value = answer.numbers[i];
        HONE_ASSIGN_OR_RETURN(const TensorTree tree,
                              memory.TreeOf({answer.kept, answer.base}, std::move(form)));
        HONE_ASSIGN_OR_RETURN(const bool right, look_again(block == 1, call, tree));
        if (right) over = 1;
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
