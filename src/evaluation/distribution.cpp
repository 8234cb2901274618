#include "evaluation/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hone {

namespace {

constexpr int kPermutations = 1999;
// After so many permutations with a more extreme statistic, the observed one is not significant (Besag and
// Clifford's test).
constexpr int kEnoughBeyond = 20;
constexpr double kClearlyRandom = 1000;  // times the tolerance
constexpr double kStandardErrors = 7;    // one normal element in 4e11 exceeds it
constexpr double kRangeDeviations = 10;  // in deviations of the distances between PyTorch's own draws
constexpr double kRangeMargin = 0.15;    // typical distances differ between inputs

constexpr char kMeans[] = "means";
constexpr char kSpreads[] = "spreads";
constexpr char kShape[] = "shape";
constexpr char kTails[] = "tails";
constexpr char kReturning[] = "draws that come back";
constexpr char kFollowing[] = "draws that follow each other";

// The products of all draws with each other, summed over features. Every statistic below is a function of
// such a matrix and of the assignment of draws to the two sides.
class Gram {
 public:
  explicit Gram(size_t draws) : n_(draws), values_(draws * draws, 0) {}
  size_t size() const { return n_; }
  double At(size_t i, size_t k) const { return values_[i < k ? i * n_ + k : k * n_ + i]; }

  // `feature` has one value per draw. Its mean carries no information and is subtracted.
  void Add(std::vector<double> feature) {
    const double mean = std::accumulate(feature.begin(), feature.end(), 0.0) / static_cast<double>(n_);
    for (double& value : feature) value -= mean;
    for (size_t i = 0; i < n_; ++i) {
      double* const row = &values_[i * n_];
      const double own = feature[i];
      for (size_t k = i; k < n_; ++k) row[k] += own * feature[k];
    }
  }

 private:
  size_t n_;
  std::vector<double> values_;
};

// A permutation of the draws. The first half is assigned to the candidate.
using Order = std::vector<size_t>;

// The squared distance between the mean features of the two halves, up to a factor. Features have mean zero,
// so one half determines it.
double BetweenMeans(const Gram& gram, const Order& order) {
  const size_t half = order.size() / 2;
  double total = 0;
  for (size_t i = 0; i < half; ++i) {
    total += gram.At(order[i], order[i]);
    for (size_t k = 0; k < i; ++k) total += 2 * gram.At(order[i], order[k]);
  }
  return total;
}

// Detects repeated draws: the difference between the halves in the distances to nearest neighbours.
double NearestApart(const Gram& gram, const Order& order) {
  const size_t half = order.size() / 2;
  double sum[2] = {0, 0};
  for (size_t side = 0; side < 2; ++side)
    for (size_t i = 0; i < half; ++i) {
      const size_t a = order[side * half + i];
      double nearest = std::numeric_limits<double>::infinity();
      for (size_t k = 0; k < half; ++k) {
        const size_t b = order[side * half + k];
        if (a != b) nearest = std::min(nearest, gram.At(a, a) + gram.At(b, b) - 2 * gram.At(a, b));
      }
      sum[side] += std::sqrt(std::max(0.0, nearest));
    }
  return std::abs(sum[0] - sum[1]);
}

// The similarity of consecutive draws in the first half.
double Following(const Gram& gram, const Order& order) {
  double sum = 0;
  for (size_t i = 0; i + 1 < order.size() / 2; ++i) sum += gram.At(order[i], order[i + 1]);
  return std::abs(sum);
}

using Statistic = double (*)(const Gram&, const Order&);

double PermutationP(const Gram& gram, Statistic statistic, Random& random) {
  Order order(gram.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const double seen = statistic(gram, order) * (1 - 1e-9);
  int beyond = 1;
  for (int i = 0; i < kPermutations; ++i) {
    for (size_t k = order.size() - 1; k > 0; --k) std::swap(order[k], order[random.Below(k + 1)]);
    beyond += statistic(gram, order) >= seen ? 1 : 0;
    if (beyond > kEnoughBeyond) return static_cast<double>(kEnoughBeyond) / (i + 1);
  }
  return static_cast<double>(beyond) / (kPermutations + 1);
}

// Another index of a dimension. Reused noise typically appears in neighbours, in the other half, or mirrored.
size_t Partner(size_t index, size_t size, Random& random) {
  size_t other = index;
  switch (random.Below(4)) {
    case 0:
      other = (index + 1) % size;
      break;
    case 1:
      other = (index + size / 2) % size;
      break;
    case 2:
      other = size - 1 - index;
      break;
    default:
      break;
  }
  return other != index ? other : (index + 1 + random.Below(size - 1)) % size;
}

}  // namespace

ElementPlan PlanElements(const std::vector<int64_t>& shape, Random& random, size_t most) {
  ElementPlan plan;
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  if (count == 0) return plan;
  for (size_t i = 0; i < std::min(count, most); ++i)
    plan.elements.push_back(count <= most ? i : random.Below(count));
  plan.bases = plan.elements.size();
  size_t stride = count;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const auto size = static_cast<size_t>(shape[dim]);
    stride /= size;
    if (size < 2) continue;
    ElementPlan::Pairs pairs = {fmt::format("along dimension {}", dim), {}};
    for (size_t base = 0; base < plan.bases; ++base) {
      const size_t at = plan.elements[base], index = at / stride % size;
      const size_t other = Partner(index, size, random);
      pairs.at.emplace_back(base, plan.elements.size());
      plan.elements.push_back(at - index * stride + other * stride);
    }
    plan.pairs.push_back(std::move(pairs));
  }
  if (plan.bases > 1) {
    ElementPlan::Pairs far = {"between elements", {}};
    for (size_t base = 0; base < plan.bases; ++base)
      far.at.emplace_back(base, (base + 1 + random.Below(plan.bases - 1)) % plan.bases);
    plan.pairs.push_back(std::move(far));
  }
  return plan;
}

std::vector<DrawStatistic> CompareDraws(const ElementPlan& plan, const Draws& reference,
                                        const Draws& candidate, double tolerance, Random& random,
                                        const std::set<std::string>& only) {
  const auto wanted = [&](const std::string& name) { return only.empty() || only.count(name) > 0; };
  // The candidate's draws come first. Both sides have the same number.
  const size_t half = std::min(reference.size(), candidate.size()), n = 2 * half;
  const auto value = [&](size_t draw, size_t element) {
    return draw < half ? candidate[draw][element] : reference[draw - half][element];
  };
  Gram means(n), spreads(n), shape(n), scale(n), total(n), tails(n);
  std::vector<std::vector<double>> standard(
      plan.elements.size());  // empty if the element carries no information
  std::vector<double> along(n, 0), squares(n, 0), fourths(n, 0);
  for (size_t e = 0; e < plan.elements.size(); ++e) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < n; ++i) mean += value(i, e) / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i)
      variance += (value(i, e) - mean) * (value(i, e) - mean) / static_cast<double>(n);
    const double deviation = std::sqrt(variance);
    if (!(deviation > kClearlyRandom * tolerance) || !std::isfinite(deviation)) continue;
    std::vector<double>& z = standard[e];
    std::vector<double> square(n);
    for (size_t i = 0; i < n; ++i) {
      z.push_back((value(i, e) - mean) / deviation);
      square[i] = z[i] * z[i];
      along[i] += z[i] * std::clamp(mean / deviation, -10.0, 10.0);
      squares[i] += square[i];
      fourths[i] += square[i] * square[i];
    }
    if (wanted(kMeans) || wanted(kReturning) || wanted(kFollowing)) means.Add(z);
    if (wanted(kSpreads)) spreads.Add(square);
    if (e >= plan.bases || !wanted(kShape)) continue;
    for (const double frequency : {1.0, 2.5}) {
      std::vector<double> sine(n), cosine(n);
      for (size_t i = 0; i < n; ++i) {
        sine[i] = std::sin(frequency * z[i]);
        cosine[i] = std::cos(frequency * z[i]);
      }
      shape.Add(std::move(sine));
      shape.Add(std::move(cosine));
    }
  }
  scale.Add(along);
  total.Add(squares);
  tails.Add(fourths);

  std::vector<DrawStatistic> found;
  const auto test = [&](const std::string& name, const Gram& gram, Statistic statistic) {
    if (wanted(name)) found.push_back({name, PermutationP(gram, statistic, random)});
  };
  test(kMeans, means, BetweenMeans);
  test("scale", scale, BetweenMeans);
  test(kSpreads, spreads, BetweenMeans);
  test("total spread", total, BetweenMeans);
  test(kShape, shape, BetweenMeans);
  test(kTails, tails, BetweenMeans);
  test(kReturning, means, NearestApart);
  test(kFollowing, means, Following);
  for (const ElementPlan::Pairs& pairs : plan.pairs) {
    if (!wanted("dependence " + pairs.name)) continue;
    Gram products(n);
    for (const auto& [a, b] : pairs.at) {
      if (standard[a].empty() || standard[b].empty() || plan.elements[a] == plan.elements[b]) continue;
      std::vector<double> product(n);
      for (size_t i = 0; i < n; ++i) product[i] = standard[a][i] * standard[b][i];
      products.Add(std::move(product));
    }
    test("dependence " + pairs.name, products, BetweenMeans);
  }
  return found;
}

void ElementMoments::Add(const std::vector<double>& values) {
  if (mean_.empty()) {
    mean_.assign(values.size(), 0);
    squares_.assign(values.size(), 0);
  }
  ++count_;
  for (size_t i = 0; i < values.size(); ++i) {
    const double off = values[i] - mean_[i];
    mean_[i] += off / static_cast<double>(count_);
    squares_[i] += off * (values[i] - mean_[i]);
  }
}

std::optional<size_t> ElementMoments::FirstApart(const ElementMoments& a, const ElementMoments& b,
                                                 double tolerance) {
  const auto n = static_cast<double>(std::min(a.count_, b.count_));
  for (size_t i = 0; i < a.mean_.size() && i < b.mean_.size(); ++i) {
    const double variance =
        a.squares_[i] / static_cast<double>(a.count_) + b.squares_[i] / static_cast<double>(b.count_);
    const double explained = tolerance + kStandardErrors * std::sqrt(variance / n);
    if (!(std::abs(a.mean_[i] - b.mean_[i]) <= explained)) return i;
  }
  return std::nullopt;
}

bool ElementMoments::Varies(double tolerance) const {
  return std::any_of(squares_.begin(), squares_.end(), [&](double sum) {
    return std::sqrt(sum / static_cast<double>(std::max<size_t>(count_, 1))) > tolerance;
  });
}

DrawRange DrawRange::Of(const std::vector<double>& distances) {
  if (distances.empty()) return {0, std::numeric_limits<double>::infinity()};
  const auto n = static_cast<double>(distances.size());
  const double mean = std::accumulate(distances.begin(), distances.end(), 0.0) / n;
  double variance = 0;
  for (const double distance : distances) variance += (distance - mean) * (distance - mean) / n;
  const double margin = kRangeDeviations * std::sqrt(variance) + kRangeMargin * mean;
  return {std::max(0.0, mean - margin), mean + margin};
}

}  // namespace hone
