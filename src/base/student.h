// Student's t distribution: how far a mean of few values may be off by chance. Intervals of speed-ups
// (verdict/interval.h) and of ratios between runs (report/paired_ratio.h) use it.
#pragma once

#include <cstddef>

namespace hone {

// The value that a normal variable exceeds in magnitude with probability 5%.
inline constexpr double kNormal95 = 1.959964;
// The same for Student's t with that many degrees of freedom. Infinite for none.
double Student95(size_t degrees);

}  // namespace hone
