#include "base/student.h"

#include <iterator>
#include <limits>

namespace hone {

double Student95(size_t degrees) {
  constexpr double kTable[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060,
                               2.2622,  2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199};
  if (degrees == 0) return std::numeric_limits<double>::infinity();
  if (degrees <= std::size(kTable)) return kTable[degrees - 1];
  return kNormal95 + 2.4 / static_cast<double>(degrees);
}

}  // namespace hone
