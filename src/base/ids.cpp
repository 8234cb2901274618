#include "base/ids.h"

#include <sha2.h>
#include <sys/random.h>
#include <sys/types.h>

#include <cstdlib>
#include <vector>

namespace hone {

namespace {

void FillRandom(void* data, size_t size) {
  // getrandom never returns fewer bytes for up to 256. Aborts without random bytes: the judge needs secret
  // seeds.
  if (getrandom(data, size, 0) != static_cast<ssize_t>(size)) std::abort();
}

}  // namespace

uint64_t RandomU64() {
  uint64_t value = 0;
  FillRandom(&value, sizeof value);
  return value;
}

std::string RandomHex(size_t bytes) {
  static const char kDigits[] = "0123456789abcdef";
  std::vector<unsigned char> raw(bytes);
  FillRandom(raw.data(), bytes);
  std::string out;
  for (unsigned char byte : raw) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::string Sha256(std::string_view content) {
  char text[SHA256_DIGEST_STRING_LENGTH];
  SHA256Data(reinterpret_cast<const uint8_t*>(content.data()), content.size(), text);
  return text;
}

uint64_t Random::Next() {
  // splitmix64: a multiply-xor chain with full period, good enough to choose indices.
  uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

uint64_t Random::Below(uint64_t bound) {
  return bound == 0 ? 0 : static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
}

}  // namespace hone
