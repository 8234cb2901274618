#include "evaluation/trial_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "evaluation/tree_values.h"

namespace hone {

namespace {

constexpr double kNumberUlp = 64;  // for a Python float, which was most likely a float32

// Returns the case to which this output belongs, if it is another one: the candidate returned a cached
// answer.
Result<std::string> StaleOf(const Truth& truth, const Case& one, const TensorTree& answer) {
  for (const Case& other : truth.cases) {
    if (other.id == one.id || other.truth.leaves.size() != answer.leaves.size()) continue;
    if (!HasValues(other.truth)) continue;
    bool same = true;
    for (size_t i = 0; same && i < answer.leaves.size(); ++i) {
      const TensorLeaf& leaf = answer.leaves[i];
      same = leaf.elements() == other.truth.leaves[i].elements() && leaf.elements() > 0;
      if (!same) break;
      HONE_ASSIGN_OR_RETURN(const Distance distance, CompareNorms(answer, other.truth, i));
      same = distance.relative <= (IsFloating(leaf.dtype) ? truth.LimitOf(other, i).relative : 0);
    }
    if (same) return other.id;
  }
  return std::string();
}

// True if several elements share one address: an expanded tensor, whose memory is not fully written.
bool Overlaps(const TensorLeaf& leaf) {
  for (size_t i = 0; i < leaf.stride.size(); ++i)
    if (leaf.shape[i] > 1 && leaf.stride[i] == 0 && leaf.elements() > 1) return true;
  return false;
}

std::string FormProblem(const TensorLeaf& got, const TensorLeaf& want) {
  if (got.shape != want.shape)
    return fmt::format("{} has shape {} where {} is expected", got.path, ShapeText(got.shape),
                       ShapeText(want.shape));
  if (got.stride.empty() && !want.stride.empty())
    return fmt::format("{} is not a dense tensor, and PyTorch's is", got.path);
  if (!got.shared.empty() && want.shared.empty())
    return fmt::format("{} is memory of {}, where PyTorch returns memory of its own", got.path,
                       got.shared == "input" ? "the caller's input" : "a parameter");
  if (Overlaps(got) && !Overlaps(want))
    return fmt::format("{} has strides {}, several elements at one address, where PyTorch's has {}", got.path,
                       ShapeText(got.stride), ShapeText(want.stride));
  return "";
}

// The same leaf of several trees, as numbers.
class LeafNumbers {
 public:
  static Result<LeafNumbers> Of(const TensorTree& tree, size_t leaf) {
    LeafNumbers numbers;
    numbers.dtype_ = tree.leaves[leaf].dtype;
    HONE_ASSIGN_OR_RETURN(numbers.bytes_, CopyToHost(tree, leaf));
    return numbers;
  }
  size_t size() const { return bytes_.size() / DtypeSize(dtype_); }
  double At(size_t index) const { return index < size() ? ElementAt(dtype_, bytes_, index) : NAN; }
  // A complex element counts as two numbers.
  size_t numbers() const { return size() * (IsComplex(dtype_) ? 2 : 1); }
  double NumberAt(size_t number) const {
    if (!IsComplex(dtype_)) return At(number);
    const Dtype part = dtype_ == Dtype::kC64 ? Dtype::kF32 : Dtype::kF64;
    return number < numbers() ? ElementAt(part, bytes_, number) : NAN;
  }
  size_t ElementOf(size_t number) const { return IsComplex(dtype_) ? number / 2 : number; }
  // A double represents integers exactly only up to 2^53, so bytes are compared.
  bool Agrees(const LeafNumbers& other, size_t index) const {
    const size_t step = DtypeSize(dtype_), at = index * step;
    return dtype_ == other.dtype_ && index < size() && index < other.size() &&
           SameBytes(std::span(bytes_).subspan(at, step), std::span(other.bytes_).subspan(at, step));
  }

 private:
  Dtype dtype_ = Dtype::kI64;
  std::vector<std::byte> bytes_;
};

// Sets the distance to the share of wrong integers. An integer is right if PyTorch or float64 returns it,
// also for inputs that differ by rounding. If those disagree, float64 values tie within rounding, and any
// number in the output's range may win the tie.
Status CompareIntegers(const Case& one, const TensorTree& answer, size_t leaf, Distance* distance) {
  if (distance->relative == 0) return Ok();
  HONE_ASSIGN_OR_RETURN(const LeafNumbers got, LeafNumbers::Of(answer, leaf));
  HONE_ASSIGN_OR_RETURN(const LeafNumbers exact, LeafNumbers::Of(one.truth, leaf));
  HONE_ASSIGN_OR_RETURN(const LeafNumbers own, LeafNumbers::Of(one.expected, leaf));
  std::vector<LeafNumbers> nearby;
  for (const TensorTree& tree : one.nearby) {
    HONE_ASSIGN_OR_RETURN(LeafNumbers near, LeafNumbers::Of(tree, leaf));
    nearby.push_back(std::move(near));
  }
  double lowest = INFINITY, highest = -INFINITY;
  for (size_t i = 0; i < exact.size(); ++i) {
    lowest = std::min(lowest, exact.At(i));
    highest = std::max(highest, exact.At(i));
  }
  const auto is_right = [&](size_t i) {
    if (got.Agrees(exact, i) || got.Agrees(own, i)) return true;
    bool tied = !exact.Agrees(own, i);
    for (const LeafNumbers& near : nearby) {
      if (got.Agrees(near, i)) return true;
      tied = tied || !near.Agrees(exact, i);
    }
    return tied && got.At(i) >= lowest && got.At(i) <= highest;
  };
  size_t wrong = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (is_right(i)) continue;
    if (wrong++ == 0) distance->worst_at = i;
  }
  distance->relative = static_cast<double>(wrong) / static_cast<double>(std::max<size_t>(got.size(), 1));
  distance->worst = distance->scaled = 0;
  distance->non_finite = 0;
  return Ok();
}

// If PyTorch's own answer is infinite or NaN and float64's is not, a candidate with the same answer as
// PyTorch is accepted. The task's doubts report that PyTorch is inaccurate there.
Status ExcuseOverflows(const Case& one, const TensorTree& answer, size_t leaf, Distance* distance) {
  HONE_ASSIGN_OR_RETURN(const LeafNumbers got, LeafNumbers::Of(answer, leaf));
  HONE_ASSIGN_OR_RETURN(const LeafNumbers exact, LeafNumbers::Of(one.truth, leaf));
  HONE_ASSIGN_OR_RETURN(const LeafNumbers own, LeafNumbers::Of(one.expected, leaf));
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  distance->non_finite = 0;
  for (size_t i = 0; i < got.numbers(); ++i) {
    const double value = got.NumberAt(i), right = exact.NumberAt(i);
    if ((std::isfinite(value) && std::isfinite(right)) || same(value, right) || same(value, own.NumberAt(i)))
      continue;
    if (distance->non_finite++ == 0) distance->worst_at = got.ElementOf(i);
  }
  return Ok();
}

std::string NumberProblem(const Truth& truth, const Case& one, const TensorTree& answer) {
  for (size_t i = 0; i < one.expected.numbers.size() && i < answer.numbers.size(); ++i) {
    const TreeNumber& want = one.expected.numbers[i];
    const double got = answer.numbers[i].value;
    const double exact = i < one.truth.numbers.size() ? one.truth.numbers[i].value : want.value;
    double allowed = want.whole ? 0
                                : std::max(truth.rule.error_factor * std::abs(want.value - exact),
                                           kNumberUlp * Epsilon(Dtype::kF32) * std::abs(exact));
    if (truth.rule.by_tolerance()) allowed = truth.rule.atol + truth.rule.rtol * std::abs(want.value);
    if (got == want.value || std::abs(got - exact) <= allowed) continue;
    return fmt::format("{} is {} where {} is expected", want.path, got, want.value);
  }
  return "";
}

Result<LeafTrial> JudgeLeaf(const Truth& truth, const Case& one, const TensorTree& answer, size_t i) {
  const TensorLeaf& leaf = answer.leaves[i];
  LeafTrial judged;
  judged.path = leaf.path;
  judged.reference_error = one.reference_error[i].relative;
  judged.limit = truth.LimitOf(one, i);
  HONE_ASSIGN_OR_RETURN(judged.distance, CompareLeaves(answer, one.truth, i));
  if (judged.distance.non_finite > 0 && one.reference_error[i].non_finite > 0)
    HONE_RETURN_IF_ERROR(ExcuseOverflows(one, answer, i, &judged.distance));
  if (IsFloating(leaf.dtype)) {
    const double share = truth.NormShare(one.instance, i, judged.distance);
    judged.reference_error *= share;
    judged.distance.relative *= share;
    judged.distance.worst *= share;
    judged.distance.scaled *= share;
  }
  if (!IsFloating(leaf.dtype)) {
    HONE_RETURN_IF_ERROR(CompareIntegers(one, answer, i, &judged.distance));
    judged.limit = {};
    return judged;
  }
  judged.by_tolerance = truth.rule.by_tolerance();
  if (judged.by_tolerance) {
    // An absolute tolerance fits values of the task's own size. Changed inputs produce larger ones.
    double usual = 0;
    for (const Case& own : truth.cases)
      if (own.instance == one.instance && own.change.empty() && i < own.reference_error.size())
        usual = std::max(usual, own.reference_error[i].typical);
    const bool grown = !one.change.empty() && usual > 0;
    const double size = grown ? std::max(1.0, one.reference_error[i].typical / usual) : 1;
    HONE_ASSIGN_OR_RETURN(judged.far,
                          CountFarValues(answer, one.expected, i, size * truth.rule.atol, truth.rule.rtol));
  }
  return judged;
}

// Whether an input is unchanged, or changed as PyTorch's own call changes it: some tasks write into their
// inputs.
Result<bool> KeepsInput(const Truth& truth, const Case& one, const TensorTree& after, size_t leaf) {
  if (leaf >= after.leaves.size()) return false;
  HONE_ASSIGN_OR_RETURN(const bool same, SameValues(after, one.inputs, leaf));
  if (same || leaf >= one.inputs_after.leaves.size()) return same;
  if (after.leaves[leaf].bytes != one.inputs_after.leaves[leaf].bytes) return false;
  HONE_ASSIGN_OR_RETURN(const Distance distance, CompareNorms(after, one.inputs_after, leaf));
  const double limit = IsFloating(after.leaves[leaf].dtype) ? 2 * truth.WidestLimit() : 0;
  return distance.non_finite == 0 && distance.relative <= limit;
}

}  // namespace

Result<Trial> JudgeTrial(const Truth& truth, const Case& one, const TensorTree& answer,
                         const TensorTree& inputs_after) {
  Trial trial;
  trial.case_id = one.id;
  const auto other_structure = [&] {
    return fmt::format("returns {} where {} is expected", answer.structure.substr(0, 200),
                       one.expected.structure.substr(0, 200));
  };
  if (answer.leaves.size() != one.expected.leaves.size()) {
    trial.shape_problem = other_structure();
    return trial;
  }
  for (size_t i = 0; i < answer.leaves.size(); ++i) {
    const TensorLeaf& leaf = answer.leaves[i];
    const TensorLeaf& expected = one.expected.leaves[i];
    trial.shape_problem = FormProblem(leaf, expected);
    if (!trial.shape_problem.empty()) return trial;
    if (leaf.dtype != expected.dtype) {
      trial.dtype_problem = fmt::format("{} is {} where {} is expected", leaf.path, DtypeName(leaf.dtype),
                                        DtypeName(expected.dtype));
      return trial;
    }
  }
  if (answer.structure != one.expected.structure) {
    trial.shape_problem = other_structure();
    return trial;
  }
  if (const std::string type = StrangeClass(answer.description, one.expected.description); !type.empty()) {
    trial.shape_problem = fmt::format("returns a {}, which only turns into {} when asked", type,
                                      one.expected.structure.substr(0, 200));
    return trial;
  }
  trial.value_problem = NumberProblem(truth, one, answer);
  bool wrong = false;
  for (size_t i = 0; i < answer.leaves.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const LeafTrial judged, JudgeLeaf(truth, one, answer, i));
    trial.leaves.push_back(judged);
    wrong = wrong || judged.OverLimit() || judged.distance.non_finite > 0;
  }
  if (wrong) {
    HONE_ASSIGN_OR_RETURN(trial.stale_of, StaleOf(truth, one, answer));
  }
  for (size_t i = 0; i < one.inputs.leaves.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const bool kept, KeepsInput(truth, one, inputs_after, i));
    trial.input_modified = trial.input_modified || !kept;
  }
  return trial;
}

Result<double> WrongIntegers(const Case& one, const TensorTree& answer, size_t leaf) {
  HONE_ASSIGN_OR_RETURN(Distance distance, CompareLeaves(answer, one.truth, leaf));
  HONE_RETURN_IF_ERROR(CompareIntegers(one, answer, leaf, &distance));
  return distance.relative;
}

double NumberLimit(const Truth& truth, size_t number, double want, bool whole) {
  if (truth.rule.by_tolerance()) return truth.rule.atol + truth.rule.rtol * std::abs(want);
  if (whole) return 0;
  double error = 0, size = std::abs(want);
  for (const Case& one : truth.cases) {
    if (one.instance != 0 || !one.change.empty() || number >= one.expected.numbers.size() ||
        number >= one.truth.numbers.size())
      continue;
    const double exact = one.truth.numbers[number].value;
    error = std::max(error, std::abs(one.expected.numbers[number].value - exact));
    size = std::max(size, std::abs(exact));
  }
  return std::max(truth.rule.error_factor * error, kNumberUlp * Epsilon(Dtype::kF32) * size);
}

bool IsBad(const Trial& trial) {
  if (!trial.shape_problem.empty() || !trial.dtype_problem.empty() || !trial.value_problem.empty() ||
      trial.input_modified)
    return true;
  return std::any_of(trial.leaves.begin(), trial.leaves.end(), [](const LeafTrial& leaf) {
    return leaf.OverLimit() || leaf.distance.non_finite > 0 || leaf.distance.poisoned > 0;
  });
}

bool Overflows(const Trial& trial) {
  if (!trial.shape_problem.empty() || !trial.dtype_problem.empty() || !trial.value_problem.empty() ||
      !trial.stale_of.empty() || trial.input_modified)
    return false;
  return IsBad(trial) && std::all_of(trial.leaves.begin(), trial.leaves.end(), [](const LeafTrial& leaf) {
           return leaf.distance.poisoned == 0 && (leaf.distance.non_finite > 0 || !leaf.OverLimit());
         });
}

std::string StrideRemark(const Case& one, const TensorTree& answer) {
  for (size_t i = 0; i < answer.leaves.size() && i < one.expected.leaves.size(); ++i) {
    const TensorLeaf& got = answer.leaves[i];
    const TensorLeaf& want = one.expected.leaves[i];
    if (got.shape != want.shape || got.stride.empty() || want.stride.empty()) continue;
    for (size_t d = 0; d < got.shape.size(); ++d)
      if (got.shape[d] > 1 && got.stride[d] != want.stride[d])
        return fmt::format("{} has strides {} where PyTorch's has {}: view() may fail on it", got.path,
                           ShapeText(got.stride), ShapeText(want.stride));
  }
  return "";
}

}  // namespace hone
