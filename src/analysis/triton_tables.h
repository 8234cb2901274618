// The names that Triton offers in each release. A set of releases is a bit mask in which bit i stands for
// kTritonVersions[i]. The table is generated from the releases' sources (scripts/triton_tables.py).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

inline constexpr std::string_view kTritonVersions[] = {"2.1", "2.2", "3.0", "3.1", "3.2",
                                                       "3.3", "3.4", "3.5", "3.6"};
inline constexpr uint32_t kAllTriton = 0x1ff;
// The default releases if none is requested: all that current PyTorch versions ship.
inline constexpr uint32_t kTriton3 = 0x1fc;

// Parses "3.2" or "3.2.0". A release newer than the table counts as the newest one. 0 if it is not a version.
uint32_t TritonVersionMask(std::string_view version);
// This release and all earlier ones in the table.
uint32_t TritonUpTo(std::string_view version);
// The releases in which `scope` ("triton", "triton.language", "triton.language.math", "libdevice", "tensor")
// has `name`; 0 if none does.
uint32_t TritonReleasesWith(std::string_view scope, std::string_view name);
std::vector<std::string> TritonNames(std::string_view scope, uint32_t versions);
// "3.0 to 3.3", for messages.
std::string DescribeVersions(uint32_t mask);

}  // namespace hone
