// For tests: the bytes of a vector's elements.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hone {

template <class T>
std::span<const std::byte> BytesOf(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace hone
