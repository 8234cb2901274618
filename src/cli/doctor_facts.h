// Collects the facts about this machine into a plain struct, and derives which targets can be judged here and
// what is worth installing. doctor_command.cpp prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "process/python.h"
#include "process/sandbox.h"

namespace hone {

struct CpuFacts {
  std::string model;
  std::string architecture;           // "x86_64", "aarch64"
  int cores = 0;                      // processors that this process may use
  std::vector<std::string> features;  // "AVX2", "AVX-512", "NEON", ...
  int64_t memory_bytes = 0;
  int64_t memory_available_bytes = 0;
};

struct GpuFacts {
  std::string name;
  std::string driver;
  std::string compute_capability;  // "9.0"; empty if nvidia-smi is too old to report it
  int64_t memory_bytes = 0;
};

struct ToolFacts {
  std::string name;
  fs::path path;        // empty if it is missing
  std::string version;  // empty if it reports none
};

struct FolderFacts {
  std::string role;  // "cache", "data"
  fs::path path;
  bool writable = false;
  int64_t free_bytes = 0;
};

struct DoctorFacts {
  CpuFacts cpu;
  std::vector<GpuFacts> gpus;
  bool gpu_without_driver = false;    // an NVIDIA device is present but nvidia-smi does not answer
  bool profiling_needs_root = false;  // the driver allows only root to read performance counters
  std::vector<ToolFacts> tools;       // compilers, profilers and helpers, including missing ones
  std::optional<PythonInfo> python;   // set if a Python with torch was found
  std::string python_error;           // else: the Pythons that were tried
  SandboxLevel sandbox = SandboxLevel::kNone;
  std::string namespace_setting;  // the sysctl that prevents bubblewrap from working; empty if there is none
  std::vector<FolderFacts> folders;

  bool has(const std::string& tool) const;
};

// A missing item: what it is for, and the command that installs it.
struct Advice {
  std::string missing;
  std::string gives;
  std::string command;
  bool required = false;  // no candidate can be judged without it
};

struct Readiness {
  bool cpu = false;
  bool cuda = false;
  bool triton = false;              // on a GPU
  bool triton_interpreter = false;  // only correctness, without a GPU
};

DoctorFacts GatherFacts(const std::string& python_choice);
std::vector<Advice> AdviceFor(const DoctorFacts& facts);
Readiness ReadinessOf(const DoctorFacts& facts);

// Parsers, declared here for tests.
CpuFacts ParseCpu(const std::string& cpuinfo, const std::string& meminfo, const std::string& architecture);
std::vector<GpuFacts> ParseGpuList(const std::string& csv);
// The first word that looks like a version: "g++ (Debian 12.2.0-14) 12.2.0" -> "12.2.0".
std::string ParseVersion(const std::string& output);

}  // namespace hone
