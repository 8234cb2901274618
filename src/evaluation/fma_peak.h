// What the cores of this machine reach in fused multiply-adds, all at once: the ceiling that a kernel on the
// CPU is held against. Libraries stay below it, so their rate is none.
#pragma once

#include <map>
#include <string>

namespace hone {

// Operations per second by dtype, "float32" and "float64", of `threads` threads; takes half a second.
std::map<std::string, double> MeasureFmaPeak(int threads);

}  // namespace hone
