#include "evaluation/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace hone {
namespace {

constexpr size_t kRows = 12, kColumns = 10;
constexpr double kTolerance = 1e-6;

// A small module with dropout: y = W (x * mask / keep), row by row.
class Module {
 public:
  explicit Module(uint64_t seed) : random_(seed) {
    for (double& value : x_) value = std::abs(Normal());
    for (double& value : weights_) value = Normal();
  }
  double Uniform() { return static_cast<double>(random_.Next() >> 11) * 0x1p-53; }
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
    return radius * std::cos(6.283185307179586 * Uniform());
  }
  using Mask = std::vector<double>;  // kRows x kColumns factors
  Mask Dropout(double p, double scale) {
    Mask mask(kRows * kColumns);
    for (double& value : mask) value = Uniform() < p ? 0 : scale;
    return mask;
  }
  std::vector<double> Call(const Mask& mask) const {
    std::vector<double> y(kRows * kColumns, 0);
    for (size_t row = 0; row < kRows; ++row)
      for (size_t out = 0; out < kColumns; ++out)
        for (size_t k = 0; k < kColumns; ++k)
          y[row * kColumns + out] +=
              weights_[out * kColumns + k] * x_[row * kColumns + k] * mask[row * kColumns + k];
    return y;
  }

 private:
  Random random_;
  double x_[kRows * kColumns], weights_[kColumns * kColumns];
};

Draws Planned(const ElementPlan& plan, const std::vector<std::vector<double>>& answers) {
  Draws draws;
  for (const auto& answer : answers) {
    draws.emplace_back();
    for (const size_t at : plan.elements) draws.back().push_back(answer[at]);
  }
  return draws;
}

using Side = std::function<std::vector<double>(Module&)>;

std::vector<double> Honest(Module& module) {
  return module.Call(module.Dropout(0.25, 1 / 0.75));
}

std::vector<DrawStatistic> Compare(uint64_t seed, int draws, const Side& candidate) {
  Module module(seed);
  Random random(seed + 1);
  const ElementPlan plan = PlanElements({kRows, kColumns}, random, 64);
  std::vector<std::vector<double>> own, other;
  for (int i = 0; i < draws; ++i) {
    own.push_back(Honest(module));
    other.push_back(candidate(module));
  }
  return CompareDraws(plan, Planned(plan, own), Planned(plan, other), kTolerance, random);
}

double SmallestP(const std::vector<DrawStatistic>& found) {
  double p = 1;
  for (const DrawStatistic& statistic : found) p = std::min(p, statistic.p);
  return p;
}

TEST(Distribution, RaisesFalseAlarmsAsOftenAsItSays) {
  constexpr int kRuns = 120;
  constexpr double kLevel = 0.05;
  std::map<std::string, int> alarms;
  for (int run = 0; run < kRuns; ++run)
    for (const DrawStatistic& statistic : Compare(static_cast<uint64_t>(run) * 7 + 1, 16, Honest))
      alarms[statistic.name] += statistic.p <= kLevel ? 1 : 0;
  ASSERT_EQ(alarms.size(), 11u);
  for (const auto& [name, count] : alarms) {
    // Binomial with mean 6 and deviation 2.4: only another rate exceeds four deviations.
    EXPECT_LE(count, 16) << name;
  }
}

TEST(Distribution, TellsWrongDrawsApart) {
  Module::Mask fixed;
  int calls = 0;
  std::vector<Module::Mask> four;
  const std::map<std::string, Side> wrong = {
      {"another probability", [](Module& m) { return m.Call(m.Dropout(0.4, 1 / 0.6)); }},
      {"no scaling", [](Module& m) { return m.Call(m.Dropout(0.25, 1)); }},
      {"no draws", [](Module& m) { return m.Call(Module::Mask(kRows * kColumns, 1)); }},
      {"one mask for all calls",
       [&](Module& m) {
         if (fixed.empty()) fixed = m.Dropout(0.25, 1 / 0.75);
         return m.Call(fixed);
       }},
      {"four masks in turn",
       [&](Module& m) {
         if (four.size() < 4) four.push_back(m.Dropout(0.25, 1 / 0.75));
         return m.Call(four[static_cast<size_t>(calls++) % four.size()]);
       }},
      {"one mask for all rows",
       [](Module& m) {
         Module::Mask mask = m.Dropout(0.25, 1 / 0.75);
         for (size_t i = kColumns; i < mask.size(); ++i) mask[i] = mask[i % kColumns];
         return m.Call(mask);
       }},
      {"one draw for a row",
       [](Module& m) {
         Module::Mask mask = m.Dropout(0.25, 1 / 0.75);
         for (size_t i = 0; i < mask.size(); ++i) mask[i] = mask[i / kColumns * kColumns];
         return m.Call(mask);
       }},
      {"normal factors of the same variance",
       [](Module& m) {
         Module::Mask mask(kRows * kColumns);
         for (double& value : mask) value = 1 + std::sqrt(1.0 / 3) * m.Normal();
         return m.Call(mask);
       }},
  };
  for (const auto& [name, side] : wrong) EXPECT_LE(SmallestP(Compare(99, 64, side)), kDrawsLevel) << name;
}

TEST(Distribution, SeesAMaskSharedByRowsWhereNoProductFollows) {
  Random random(5);
  const ElementPlan plan = PlanElements({16, 8}, random);
  const auto uniform = [&] { return static_cast<double>(random.Next() >> 11) * 0x1p-53; };
  for (const bool shared : {false, true}) {
    Draws sides[2];
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < 32; ++i) {
        std::vector<double> answer(16 * 8);
        for (size_t k = 0; k < answer.size(); ++k)
          answer[k] = side == 1 && shared && k >= 8 ? answer[k % 8] : uniform() < 0.1 ? 0 : 1 / 0.9;
        sides[side].push_back({});
        // The inputs' signs differ from row to row.
        for (const size_t at : plan.elements)
          sides[side].back().push_back(answer[at] * (at % 3 == 0 ? -1 : 1));
      }
    const double p = SmallestP(CompareDraws(plan, sides[0], sides[1], kTolerance, random));
    EXPECT_EQ(p <= kDrawsLevel, shared) << p;
  }
}

TEST(Distribution, SeesNoiseWithoutTailsAndNoiseThatIsUsedAgainWithTheOtherSign) {
  constexpr size_t kNoiseRows = 64, kNoiseColumns = 32;
  Random random(17);
  const auto uniform = [&] { return (static_cast<double>(random.Next() >> 11) + 0.5) * 0x1p-53; };
  const auto normal = [&] {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());
  };
  const std::map<std::string, std::function<double(const std::vector<double>&)>> sides = {
      {"normal", [&](const std::vector<double>&) { return normal(); }},
      {"three uniforms",
       [&](const std::vector<double>&) { return 2 * (uniform() + uniform() + uniform()) - 3; }},
      {"the other half's noise",
       [&](const std::vector<double>& so_far) {
         const size_t half = kNoiseRows * kNoiseColumns / 2;
         return so_far.size() < half ? normal() : -so_far[so_far.size() - half];
       }},
  };
  for (const auto& [name, side] : sides) {
    const ElementPlan plan = PlanElements({kNoiseRows, kNoiseColumns}, random);
    Draws draws[2];
    for (int which = 0; which < 2; ++which)
      for (int i = 0; i < 64; ++i) {
        std::vector<double> answer;
        while (answer.size() < kNoiseRows * kNoiseColumns)
          answer.push_back(which == 0 ? normal() : side(answer));
        draws[which].push_back({});
        for (const size_t at : plan.elements) draws[which].back().push_back(answer[at]);
      }
    const double p = SmallestP(CompareDraws(plan, draws[0], draws[1], kTolerance, random));
    EXPECT_EQ(p <= kDrawsLevel, name != "normal") << name << ": " << p;
  }
}

TEST(Distribution, LeavesOutWhatRoundingExplains) {
  Random random(3);
  const ElementPlan plan = PlanElements({40}, random);
  Draws own(16, std::vector<double>(plan.elements.size(), 1)), other = own;
  for (auto& draw : other)
    for (double& value : draw) value += 1e-7;
  EXPECT_EQ(SmallestP(CompareDraws(plan, own, other, 1e-6, random)), 1);
}

TEST(Distribution, PairsDifferInOneDimensionAlone) {
  Random random(11);
  const ElementPlan plan = PlanElements({5, 1, 7, 3}, random, 20);
  ASSERT_EQ(plan.pairs.size(), 4u);  // dimensions 0, 2 and 3, and pairs of random elements
  const size_t strides[] = {21, 3, 1}, sizes[] = {5, 7, 3};
  for (size_t dim = 0; dim < 3; ++dim)
    for (const auto& [a, b] : plan.pairs[dim].at)
      for (size_t d = 0; d < 3; ++d)
        EXPECT_EQ(plan.elements[a] / strides[d] % sizes[d] != plan.elements[b] / strides[d] % sizes[d],
                  d == dim);
  EXPECT_TRUE(PlanElements({3, 0}, random).elements.empty());
}

TEST(ElementMoments, FindTheOneElementThatIsOff) {
  Random random(2);
  ElementMoments own, same, off;
  for (int i = 0; i < 64; ++i) {
    std::vector<double> a(500), b(500);
    for (auto* values : {&a, &b})
      for (double& value : *values) value = random.Below(10) == 0 ? 0 : 1.0;
    own.Add(a);
    same.Add(b);
    b[123] += 2;
    off.Add(b);
  }
  EXPECT_FALSE(ElementMoments::FirstApart(own, same, kTolerance));
  EXPECT_EQ(ElementMoments::FirstApart(own, off, kTolerance), 123u);
  EXPECT_TRUE(own.Varies(0.1));
  EXPECT_FALSE(own.Varies(1));
}

TEST(DrawRange, HoldsWhatPyTorchsOwnDrawsDo) {
  const DrawRange range = DrawRange::Of({0.47, 0.471, 0.469, 0.4705});
  EXPECT_TRUE(range.Holds(0.45) && range.Holds(0.5));
  EXPECT_FALSE(range.Holds(0.33));  // an answer without the random draws
  EXPECT_FALSE(range.Holds(1.4));   // the answer to other inputs
  EXPECT_EQ(DrawRange::Of({0.1, 2.0, 0.7}).low, 0);
}

}  // namespace
}  // namespace hone
