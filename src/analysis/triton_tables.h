// Which names Triton offers, release by release. A set of releases is a bit mask; bit i stands for
// kTritonVersions[i]. The table itself is generated (scripts/triton_tables.py) from the releases' sources.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

inline constexpr std::string_view kTritonVersions[] = {"2.1", "2.2", "3.0", "3.1", "3.2",
                                                       "3.3", "3.4", "3.5", "3.6"};
inline constexpr uint32_t kAllTriton = 0x1ff;
// What is assumed when nobody says which release will run the candidate: any that current PyTorch ships.
inline constexpr uint32_t kTriton3 = 0x1fc;

// "3.2" or "3.2.0"; a newer release than the table knows reads as the newest. 0 when it is not a version.
uint32_t TritonVersionMask(std::string_view version);
// That release and every earlier one the table knows.
uint32_t TritonUpTo(std::string_view version);
// The releases in which `scope` ("triton", "triton.language", "triton.language.math", "libdevice", "tensor")
// has `name`; 0 when none does.
uint32_t TritonReleasesWith(std::string_view scope, std::string_view name);
std::vector<std::string> TritonNames(std::string_view scope, uint32_t versions);
// "3.0 to 3.3", for messages.
std::string DescribeVersions(uint32_t mask);

}  // namespace hone
