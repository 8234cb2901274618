// The median: the middle value, or the mean of the middle two. 0 for an empty list.
#pragma once

#include <vector>

namespace hone {

double MedianOf(std::vector<double> values);

}  // namespace hone
