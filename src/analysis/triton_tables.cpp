#include "analysis/triton_tables.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace hone {

namespace {

struct Entry {
  std::string_view scope;
  std::string_view name;
  uint32_t releases;
};

// Sorted by scope and name.
constexpr Entry kEntries[] = {
#include "analysis/triton_tables.inc"
};

constexpr size_t kVersionCount = std::size(kTritonVersions);

}  // namespace

uint32_t TritonVersionMask(std::string_view version) {
  for (size_t i = 0; i < kVersionCount; ++i) {
    const std::string_view known = kTritonVersions[i];
    if (version.substr(0, known.size()) == known &&
        (version.size() == known.size() || version[known.size()] == '.'))
      return 1u << i;
  }
  const bool newer = version.size() >= 3 && version[0] >= '3' && version[0] <= '9' && version[1] == '.';
  return newer ? 1u << (kVersionCount - 1) : 0;
}

uint32_t TritonUpTo(std::string_view version) {
  const uint32_t newest = TritonVersionMask(version);
  return newest | (newest - 1);
}

uint32_t TritonReleasesWith(std::string_view scope, std::string_view name) {
  const auto* it = std::lower_bound(
      std::begin(kEntries), std::end(kEntries), std::tie(scope, name),
      [](const Entry& entry, const auto& key) { return std::tie(entry.scope, entry.name) < key; });
  return it != std::end(kEntries) && it->scope == scope && it->name == name ? it->releases : 0;
}

std::vector<std::string> TritonNames(std::string_view scope, uint32_t versions) {
  std::vector<std::string> out;
  for (const Entry& entry : kEntries)
    if (entry.scope == scope && (entry.releases & versions) != 0) out.emplace_back(entry.name);
  return out;
}

std::string DescribeVersions(uint32_t mask) {
  std::string out;
  for (size_t i = 0; i < kVersionCount;) {
    if ((mask >> i & 1) == 0) {
      ++i;
      continue;
    }
    size_t last = i;
    while (last + 1 < kVersionCount && (mask >> (last + 1) & 1) != 0) ++last;
    if (!out.empty()) out += ", ";
    out += kTritonVersions[i];
    if (last > i) out += " to " + std::string(kTritonVersions[last]);
    i = last + 1;
  }
  return out;
}

}  // namespace hone
