// Random numbers from the kernel, and content hashes. Candidates must not guess seeds, so nothing here is
// derived from the time or a process id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone {

uint64_t RandomU64();
// A seed for a random generator. 52 bits fit into a double, so no JSON reader rounds it.
inline uint64_t RandomSeed() {
  return RandomU64() >> 12;
}
// Returns 2*bytes lower-case hexadecimal digits.
std::string RandomHex(size_t bytes);
// SHA-256 in hexadecimal, as sha256sum prints it.
std::string Sha256(std::string_view content);

// A small, fast generator for choices within one measurement, such as which call to check.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  // Uniform in [0, bound).
  uint64_t Below(uint64_t bound);

 private:
  uint64_t state_;
};

}  // namespace hone
