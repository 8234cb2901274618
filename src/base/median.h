// The one statistic everybody here uses: the middle value, or the mean of the two in the middle; 0 of
// nothing.
#pragma once

#include <vector>

namespace hone {

double MedianOf(std::vector<double> values);

}  // namespace hone
