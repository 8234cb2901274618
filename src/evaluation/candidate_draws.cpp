// A candidate for a task with random numbers may draw other numbers than PyTorch does under the same seed.
// Then many answers of both are compared as distributions (distribution.h), case by case.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/clock.h"
#include "base/text.h"
#include "evaluation/candidate_check.h"
#include "evaluation/run_messages.h"
#include "evaluation/tree_values.h"
#include "evaluation/trial_judge.h"

namespace hone {

namespace {

constexpr int kDraws = 64;                      // of each side, with the task's own and the stress inputs
constexpr int kFewerDraws = 32;                 // with changed inputs, and for long calls
constexpr double kMostSeconds = 20;             // for one case
constexpr double kChangedSeconds = 2;           // for a case of changed inputs
constexpr size_t kMostBytes = size_t{1} << 26;  // bytes of an answer, because all draws go through the host
constexpr size_t kMomentElements = size_t{1} << 18;
constexpr double kElementSlack = 4;  // in multiples of the limit for one element

// True if only the values are wrong, so that other random draws may explain them.
bool OnlyValuesDiffer(const Trial& trial) {
  if (!trial.shape_problem.empty() || !trial.dtype_problem.empty() || !trial.value_problem.empty() ||
      !trial.stale_of.empty() || trial.input_modified)
    return false;
  return std::all_of(trial.leaves.begin(), trial.leaves.end(), [](const LeafTrial& leaf) {
    return leaf.distance.non_finite == 0 && leaf.distance.poisoned == 0;
  });
}

// One output over many draws.
struct LeafDraws {
  ElementPlan plan;
  size_t step = 1, offset = 0;  // selects the elements whose moments are computed
  double tolerance = 0;         // difference that rounding explains
  Draws draws[2];               // of PyTorch and of the candidate
  ElementMoments moments[2];
  std::vector<double> distances;  // between draws of PyTorch
};

Status AddDraw(const TensorTree& tree, size_t leaf, int side, LeafDraws* made) {
  const Dtype dtype = tree.leaves[leaf].dtype;
  HONE_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, CopyToHost(tree, leaf));
  std::vector<double> planned, all;
  for (const size_t at : made->plan.elements) planned.push_back(ElementAt(dtype, bytes, at));
  for (size_t at = made->offset; at < tree.leaves[leaf].elements(); at += made->step)
    all.push_back(ElementAt(dtype, bytes, at));
  made->draws[side].push_back(std::move(planned));
  made->moments[side].Add(all);
  return Ok();
}

}  // namespace

struct CandidateCheck::CaseDraws {
  std::vector<LeafDraws> leaves;
  double pair_s = 1e9;  // the shortest pair of calls, because load on the machine prolongs the others
};

// Calls both sides in turn, each time under a new secret seed.
Result<bool> CandidateCheck::DrawBoth(const Case& one, int draws, CaseDraws* made) {
  std::optional<TensorTree> before;
  for (int i = 0; i < draws; ++i) {
    progress_("comparing random draws", i, draws);
    const Stopwatch pair;
    RunRequest request = {session_.instances()[one.instance].slot, one.id, RandomSeed()};
    request.earlier = one.earlier;
    HONE_ASSIGN_OR_RETURN(
        auto own, RequireTree(session_.worker(), session_.device_plane(), request, {.root = "output"}));
    HONE_ASSIGN_OR_RETURN(const std::optional<TensorTree> answer,
                          CallSeeded(Phase::kTrial, one, "draws", RandomSeed(), false, nullptr));
    if (!answer) return false;
    made->pair_s = std::min(made->pair_s, pair.seconds());
    for (size_t leaf = 0; leaf < made->leaves.size(); ++leaf) {
      const TensorLeaf& want = one.expected.leaves[leaf];
      for (const TensorTree* tree : std::initializer_list<const TensorTree*>{&own.tree, &*answer})
        if (tree->leaves.size() != made->leaves.size() || tree->leaves[leaf].shape != want.shape ||
            tree->leaves[leaf].dtype != want.dtype || !HasValues(*tree)) {
          m_.draws->wrong = fmt::format("{}: {} has not the same shape in every draw", one.id, want.path);
          return true;
        }
      HONE_RETURN_IF_ERROR(AddDraw(own.tree, leaf, 0, &made->leaves[leaf]));
      HONE_RETURN_IF_ERROR(AddDraw(*answer, leaf, 1, &made->leaves[leaf]));
      if (before) {
        HONE_ASSIGN_OR_RETURN(const Distance distance, CompareNorms(own.tree, *before, leaf));
        made->leaves[leaf].distances.push_back(distance.relative);
      }
    }
    before = std::move(own.tree);
  }
  return true;
}

Result<bool> CandidateCheck::CompareCase(const Case& one, int draws) {
  HONE_ASSIGN_OR_RETURN(const CaseLease lease, session_.Hold(one));
  ExpectAnswer(one);
  HONE_ASSIGN_OR_RETURN(const bool put, Put(one, "draws", false));
  if (!put) return false;
  Random random(RandomU64());
  CaseDraws first;
  for (size_t leaf = 0; leaf < one.expected.leaves.size(); ++leaf) {
    const TensorLeaf& want = one.expected.leaves[leaf];
    LeafDraws made;
    made.plan = PlanElements(want.shape, random);
    made.step = std::max<size_t>(1, want.elements() / kMomentElements);
    made.offset = random.Below(made.step);
    if (IsFloating(want.dtype))
      made.tolerance =
          session_.truth().LimitOf(one, leaf).worst * std::max(one.reference_error[leaf].typical, 1e-30);
    first.leaves.push_back(std::move(made));
  }
  CaseDraws second = first;
  HONE_ASSIGN_OR_RETURN(const bool drawn, DrawBoth(one, draws, &first));
  if (!drawn || !m_.draws->wrong.empty()) return drawn;
  ++m_.draws->cases;
  m_.draws->pair_s = std::max(m_.draws->pair_s, first.pair_s);
  m_.draws->draws = std::max(m_.draws->draws, draws);

  const auto refuse = [&](size_t leaf, const std::string& what) {
    m_.draws->wrong = fmt::format(
        "{}: its random draws are not PyTorch's under the same seed, and {} has another distribution: {}",
        one.id, one.expected.leaves[leaf].path, what);
  };
  std::map<size_t, std::set<std::string>> failed;  // by output
  for (size_t i = 0; i < first.leaves.size(); ++i) {
    LeafDraws& leaf = first.leaves[i];
    if (!leaf.moments[0].Varies(kElementSlack * leaf.tolerance))
      continue;  // an output without randomness is compared answer by answer
    std::optional<DrawRange>& range = m_.draws->ranges[one.instance][i];
    if (!range && one.change.empty() && one.variant.empty()) range = DrawRange::Of(leaf.distances);
    const std::optional<size_t> apart =
        ElementMoments::FirstApart(leaf.moments[0], leaf.moments[1], kElementSlack * leaf.tolerance);
    if (apart) {
      refuse(i, fmt::format("the means of element {} over {} draws differ", leaf.offset + *apart * leaf.step,
                            draws));
      return true;
    }
    for (const DrawStatistic& statistic :
         hone::CompareDraws(leaf.plan, leaf.draws[0], leaf.draws[1], leaf.tolerance, random)) {
      ++m_.draws->statistics;
      if (statistic.p <= kDrawsLevel) failed[i].insert(statistic.name);
    }
  }
  if (failed.empty()) return true;
  // One statistic in a thousand fails by chance, so twice as many new draws decide.
  HONE_ASSIGN_OR_RETURN(const bool again, DrawBoth(one, 2 * draws, &second));
  if (!again || !m_.draws->wrong.empty()) return again;
  for (const auto& [i, names] : failed) {
    const LeafDraws& leaf = second.leaves[i];
    for (const DrawStatistic& statistic :
         hone::CompareDraws(leaf.plan, leaf.draws[0], leaf.draws[1], leaf.tolerance, random, names)) {
      if (statistic.p > kDrawsLevel) continue;
      refuse(i, fmt::format("{} differ in {} draws and again in {} others (p <= {} each)", statistic.name,
                            draws, 2 * draws, kDrawsLevel));
      return true;
    }
  }
  return true;
}

Result<bool> CandidateCheck::CompareDistributions() {
  m_.draws = DrawComparison();
  const std::vector<Case>& cases = session_.cases();
  m_.draws->ranges.assign(session_.instances().size(),
                          std::vector<std::optional<DrawRange>>(cases[0].expected.leaves.size()));
  for (const TensorLeaf& leaf : cases[0].expected.leaves)
    if (IsComplex(leaf.dtype)) m_.draws->wrong = leaf.path + " is complex";
  if (cases[0].expected.size > kMostBytes) m_.draws->wrong = "its answer is too large";
  const auto decline = [&] {
    m_.draws->wrong =
        "its random draws are not PyTorch's under the same seed, and the distributions cannot be compared: " +
        m_.draws->wrong;
    return true;
  };
  if (!m_.draws->wrong.empty()) return decline();
  const auto alone = session_.Alone();
  session_.worker().Thaw();
  std::set<std::tuple<size_t, std::string, std::string>> seen;
  m_.draws->pair_s = 2e-6 * session_.eager_us();
  for (const Case& one : cases) {
    if (!seen.insert({one.instance, one.variant, one.change}).second) continue;
    const bool changed = !one.change.empty() || !one.variant.empty();
    // If a statistic fails, twice as many draws follow.
    int draws = changed ? kFewerDraws : kDraws;
    if (2 * draws * m_.draws->pair_s > kMostSeconds) draws = kFewerDraws;
    if (2 * draws * m_.draws->pair_s > (changed ? kChangedSeconds : kMostSeconds)) {
      if (changed) continue;
      m_.draws->wrong = "a call takes too long";
      return decline();
    }
    HONE_ASSIGN_OR_RETURN(const bool compared, CompareCase(one, draws));
    if (!compared && Forgive(one)) continue;
    if (!compared) return false;
    if (!m_.draws->wrong.empty()) return true;
  }
  Remark(fmt::format(
      "compared by distribution: its random draws are not PyTorch's under the same seed. {} draws of "
      "each side on {} cases, {} statistics; errors that are small beside the randomness are not seen",
      m_.draws->draws, m_.draws->cases, m_.draws->statistics));
  return true;
}

Result<bool> CandidateCheck::ExcuseDraws(Trial* trial) {
  if (!session_.truth().random || !OnlyValuesDiffer(*trial)) return true;
  if (!m_.draws) {
    HONE_ASSIGN_OR_RETURN(const bool compared, CompareDistributions());
    if (!compared) return false;
  }
  if (!m_.draws->wrong.empty()) return true;
  for (size_t i = 0; i < trial->leaves.size(); ++i)
    for (const auto& ranges : m_.draws->ranges)
      trial->leaves[i].by_distribution = trial->leaves[i].by_distribution || ranges[i].has_value();
  return true;
}

}  // namespace hone
