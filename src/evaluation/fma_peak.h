// Measures the peak rate of fused multiply-adds on all cores at once. CPU kernels are compared with this
// peak, because library rates are lower.
#pragma once

#include <map>
#include <string>

namespace hone {

// Operations per second by dtype ("float32", "float64") for `threads` threads. Takes half a second.
std::map<std::string, double> MeasureFmaPeak(int threads);

}  // namespace hone
