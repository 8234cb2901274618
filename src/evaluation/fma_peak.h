// Measures the peak rate of fused multiply-adds on all cores at once. A CPU kernel is compared with this
// peak, because libraries stay below it.
#pragma once

#include <map>
#include <string>

namespace hone {

// Operations per second by dtype, "float32" and "float64", of `threads` threads; takes half a second.
std::map<std::string, double> MeasureFmaPeak(int threads);

}  // namespace hone
