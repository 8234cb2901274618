#include "model/loop_watch.h"

#include <algorithm>
#include <iterator>

namespace hone {

namespace {

constexpr size_t kLookEvery = 4096;
// Looking at numbers is dearer, and they need a longer text.
constexpr int kLooksPerCount = 4;

constexpr size_t kMostTail = 48u << 10;
constexpr size_t kShortestRepetition = 8192;
constexpr size_t kFewestRepeats = 3;

constexpr size_t kMostShape = 64u << 10;
constexpr size_t kCountedShapes[] = {32u << 10, 64u << 10};
constexpr size_t kFewestCounts = 16;
// A counter goes on by one step. Where it starts again from 0, or is one of several that are nested, it has
// two or three.
constexpr size_t kMostSteps = 3;
constexpr char kDigits = '\1';

// Element n - 1: the smallest period of the last n bytes.
std::vector<uint32_t> PeriodsOfEnds(std::string_view text) {
  const std::string backwards(text.rbegin(), text.rend());
  const char* at = backwards.data();
  std::vector<uint32_t> periods(text.size(), 0);
  uint32_t* border = periods.data();
  for (uint32_t i = 1, k = 0; i < text.size(); ++i) {
    while (k > 0 && at[i] != at[k]) k = border[k - 1];
    if (at[i] == at[k]) ++k;
    border[i] = k;
  }
  for (uint32_t i = 0; i < periods.size(); ++i) periods[i] = i + 1 - periods[i];
  return periods;
}

}  // namespace

bool LoopWatch::RepeatsItself() const {
  if (tail_.size() < kShortestRepetition) return false;
  const std::vector<uint32_t> periods = PeriodsOfEnds(tail_);
  for (size_t length = kShortestRepetition; length <= tail_.size(); ++length)
    if (kFewestRepeats * periods[length - 1] <= length) return true;
  return false;
}

bool LoopWatch::CountsOn() const {
  if (shape_.size() < kCountedShapes[0]) return false;
  const std::vector<uint32_t> periods = PeriodsOfEnds(shape_);
  for (const size_t length : kCountedShapes) {
    if (length > shape_.size()) break;
    const size_t period = periods[length - 1];
    if (kFewestCounts * period > length) continue;
    const auto each = static_cast<size_t>(
        std::count(shape_.end() - static_cast<std::ptrdiff_t>(period), shape_.end(), kDigits));
    const size_t repeats = length / period;
    bool counts = true;
    for (size_t place = 1; place <= each && counts; ++place) {
      std::vector<uint64_t> steps;
      for (size_t i = 0; i + 1 < repeats && steps.size() <= kMostSteps; ++i) {
        const size_t later = numbers_.size() - place - i * each;
        const uint64_t step = numbers_[later] - numbers_[later - each];
        if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
      }
      counts = steps.size() <= kMostSteps;
    }
    if (counts) return true;
  }
  return false;
}

void LoopWatch::Shape(std::string_view piece) {
  for (const char c : piece) {
    if (c >= '0' && c <= '9') {
      number_ = (in_number_ ? number_ * 10 : 0) + static_cast<uint64_t>(c - '0');
      in_number_ = true;
      continue;
    }
    if (in_number_) {
      shape_ += kDigits;
      numbers_.push_back(number_);
    }
    in_number_ = false;
    shape_ += c == kDigits ? ' ' : c;
  }
}

void LoopWatch::Forget() {
  if (tail_.size() > kMostTail) tail_.erase(0, tail_.size() - kMostTail);
  if (shape_.size() <= kMostShape) return;
  const size_t surplus = shape_.size() - kMostShape;
  const auto end = shape_.begin() + static_cast<std::ptrdiff_t>(surplus);
  numbers_.erase(numbers_.begin(), numbers_.begin() + std::count(shape_.begin(), end, kDigits));
  shape_.erase(0, surplus);
}

bool LoopWatch::Add(std::string_view piece) {
  while (!piece.empty() && !loops_) {
    if (until_look_ == 0) until_look_ = kLookEvery;
    const std::string_view part = piece.substr(0, until_look_);
    piece.remove_prefix(part.size());
    tail_ += part;
    Shape(part);
    until_look_ -= part.size();
    if (until_look_ > 0) break;
    Forget();
    loops_ = RepeatsItself() || (++looks_ % kLooksPerCount == 0 && CountsOn());
  }
  return loops_;
}

}  // namespace hone
