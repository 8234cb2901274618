// What this machine has that matters to Hone, gathered once into a plain struct, and what follows from it:
// which targets can be judged here and what is worth getting. Printing is doctor_command.cpp's business.
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
  int cores = 0;                      // that this process may use
  std::vector<std::string> features;  // "AVX2", "AVX-512", "NEON", ...
  int64_t memory_bytes = 0;
  int64_t memory_available_bytes = 0;
};

struct GpuFacts {
  std::string name;
  std::string driver;
  std::string compute_capability;  // "9.0"; empty: an nvidia-smi too old to say
  int64_t memory_bytes = 0;
};

struct ToolFacts {
  std::string name;
  fs::path path;        // empty: not here
  std::string version;  // empty: it did not say
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
  bool gpu_without_driver = false;    // an NVIDIA device is on the bus and nvidia-smi does not answer
  bool profiling_needs_root = false;  // the driver gives performance counters to root only
  std::vector<ToolFacts> tools;       // compilers, profilers and helpers, missing ones included
  std::optional<PythonInfo> python;   // set when one with torch was found
  std::string python_error;           // else: what was looked at
  SandboxLevel sandbox = SandboxLevel::kNone;
  std::string namespace_setting;  // the sysctl that would let bubblewrap work; empty: not the cause
  std::vector<FolderFacts> folders;

  bool has(const std::string& tool) const;
};

// Something that is not here: what it would give and the command that gets it.
struct Advice {
  std::string missing;
  std::string gives;
  std::string command;
  bool required = false;  // without it no candidate can be judged at all
};

struct Readiness {
  bool cpu = false;
  bool cuda = false;
  bool triton = false;              // on a GPU
  bool triton_interpreter = false;  // correctness only, without a GPU
};

DoctorFacts GatherFacts(const std::string& python_choice);
std::vector<Advice> AdviceFor(const DoctorFacts& facts);
Readiness ReadinessOf(const DoctorFacts& facts);

// The parts that read text, open to tests.
CpuFacts ParseCpu(const std::string& cpuinfo, const std::string& meminfo, const std::string& architecture);
std::vector<GpuFacts> ParseGpuList(const std::string& csv);
// The first thing that looks like a version: "g++ (Debian 12.2.0-14) 12.2.0" -> "12.2.0".
std::string ParseVersion(const std::string& output);

}  // namespace hone
