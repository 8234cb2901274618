#include "cli/doctor_facts.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <future>

#include "base/text.h"
#include "process/child.h"

namespace hone {

namespace {

constexpr double kToolSeconds = 10;
constexpr const char* kTools[] = {"g++", "clang++", "nvcc", "ninja", "ncu", "compute-sanitizer", "bwrap"};
constexpr int64_t kLowDiskBytes = int64_t{2} << 30;

// Reads a small kernel file. A missing one counts as empty.
std::string KernelFile(const fs::path& path) {
  Result<std::string> text = ReadFile(path);
  return text.ok() ? *std::move(text) : "";
}

// Looks on $PATH, then in CUDA's folders, which are often not on it.
fs::path FindTool(const std::string& name) {
  if (fs::path found = FindProgram(name); !found.empty()) return found;
  const char* home = std::getenv("CUDA_HOME");
  for (const fs::path& folder :
       {fs::path(home == nullptr ? "" : home), fs::path("/usr/local/cuda"), fs::path("/opt/cuda")}) {
    if (folder.empty()) continue;
    if (fs::path found = FindProgram((folder / "bin" / name).string()); !found.empty()) return found;
  }
  return {};
}

// The output of a program; empty if it fails or hangs (a broken driver makes nvidia-smi hang).
std::string OutputOf(const std::vector<std::string>& argv) {
  ChildSpec spec;
  spec.argv = argv;
  spec.env = CurrentEnvironment();
  const Result<ExitReport> run = RunProgram(spec, Deadline::After(kToolSeconds));
  return run.ok() && run->code == 0 ? run->out : "";
}

ToolFacts InspectTool(const std::string& name) {
  ToolFacts tool{name, FindTool(name), ""};
  if (!tool.path.empty()) tool.version = ParseVersion(OutputOf({tool.path.string(), "--version"}));
  return tool;
}

std::vector<GpuFacts> InspectGpus() {
  const fs::path program = FindTool("nvidia-smi");
  if (program.empty()) return {};
  for (const char* query :
       {"name,driver_version,memory.total,compute_cap", "name,driver_version,memory.total"}) {
    const std::string csv =
        OutputOf({program.string(), fmt::format("--query-gpu={}", query), "--format=csv,noheader,nounits"});
    if (!csv.empty()) return ParseGpuList(csv);
  }
  return {};
}

bool NvidiaOnTheBus() {
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator("/sys/bus/pci/devices", code)) {
    const bool nvidia = Trim(KernelFile(entry.path() / "vendor")) == "0x10de";
    // 0x03.... is a display or 3D controller, as opposed to the card's audio device or bridges.
    if (nvidia && StartsWith(KernelFile(entry.path() / "class"), "0x03")) return true;
  }
  return false;
}

std::string NamespaceSetting() {
  if (Trim(KernelFile("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")) == "1") {
    return "kernel.apparmor_restrict_unprivileged_userns=0";
  }
  if (Trim(KernelFile("/proc/sys/kernel/unprivileged_userns_clone")) == "0") {
    return "kernel.unprivileged_userns_clone=1";
  }
  if (Trim(KernelFile("/proc/sys/user/max_user_namespaces")) == "0") return "user.max_user_namespaces=15000";
  return "";
}

int UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

// A folder that does not exist yet is judged by its nearest existing parent.
FolderFacts InspectFolder(const std::string& role, const fs::path& path) {
  FolderFacts facts{role, path, false, 0};
  fs::path there = path;
  std::error_code code;
  while (!fs::exists(there, code) && there.has_parent_path() && there != there.parent_path()) {
    there = there.parent_path();
  }
  facts.writable = fs::is_directory(there, code) && access(there.c_str(), W_OK | X_OK) == 0;
  struct statvfs disk {};
  if (statvfs(there.c_str(), &disk) == 0)
    facts.free_bytes = static_cast<int64_t>(disk.f_bavail) * disk.f_frsize;
  return facts;
}

// The first value with this key in "key<space or tab>: value" lines, the format of /proc.
std::string ProcValue(const std::string& text, std::string_view key) {
  for (const std::string& line : Lines(text)) {
    const size_t colon = line.find(':');
    if (colon != std::string::npos && Trim(line.substr(0, colon)) == key)
      return std::string(Trim(line.substr(colon + 1)));
  }
  return "";
}

}  // namespace

bool DoctorFacts::has(const std::string& tool) const {
  return std::any_of(tools.begin(), tools.end(),
                     [&](const ToolFacts& facts) { return facts.name == tool && !facts.path.empty(); });
}

CpuFacts ParseCpu(const std::string& cpuinfo, const std::string& meminfo, const std::string& architecture) {
  const struct {
    const char* flag;
    const char* name;
  } kFeatures[] = {
      {"avx2", "AVX2"},
      {"fma", "FMA"},
      {"avx512f", "AVX-512"},
      {"avx512_vnni", "VNNI"},
      {"avx512_bf16", "AVX-512 BF16"},
      {"amx_tile", "AMX"},
      {"asimd", "NEON"},
      {"sve", "SVE"},
      {"sve2", "SVE2"},
      {"bf16", "BF16"},
      {"i8mm", "I8MM"},
  };
  CpuFacts cpu;
  cpu.architecture = architecture;
  for (const char* key : {"model name", "Model", "Hardware"}) {
    if (cpu.model.empty()) cpu.model = ProcValue(cpuinfo, key);
  }
  if (cpu.model.empty()) cpu.model = architecture;
  std::string flags = ProcValue(cpuinfo, "flags");
  if (flags.empty()) flags = ProcValue(cpuinfo, "Features");
  const std::vector<std::string> words = Split(flags, ' ');
  for (const auto& [flag, name] : kFeatures) {
    if (std::find(words.begin(), words.end(), flag) != words.end()) cpu.features.emplace_back(name);
  }
  cpu.memory_bytes = std::atoll(ProcValue(meminfo, "MemTotal").c_str()) * 1024;
  cpu.memory_available_bytes = std::atoll(ProcValue(meminfo, "MemAvailable").c_str()) * 1024;
  return cpu;
}

std::vector<GpuFacts> ParseGpuList(const std::string& csv) {
  std::vector<GpuFacts> gpus;
  for (const std::string& line : Lines(csv)) {
    std::vector<std::string> cells = Split(line, ',');
    if (cells.size() < 3) continue;
    for (std::string& cell : cells) cell = SafeForTerminal(Trim(cell));
    GpuFacts gpu{cells[0], cells[1], cells.size() > 3 ? cells[3] : "", 0};
    gpu.memory_bytes = std::atoll(cells[2].c_str()) << 20;
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::string ParseVersion(const std::string& output) {
  for (const std::string& line : Lines(output)) {
    std::string last;
    for (size_t i = 0; i < line.size();) {
      size_t end = i;
      while (end < line.size() &&
             (std::isdigit(static_cast<unsigned char>(line[end])) != 0 || line[end] == '.'))
        ++end;
      const std::string_view word(line.data() + i, end - i);
      const size_t dot = word.find('.');
      if (dot != std::string_view::npos && dot > 0 && dot + 1 < word.size()) last = word;
      i = std::max(end, i + 1);
    }
    if (!last.empty()) return last;
  }
  return "";
}

DoctorFacts GatherFacts(const std::string& python_choice) {
  // All programs run at the same time, each with a deadline, so the slowest one determines the total time.
  std::vector<std::future<ToolFacts>> tools;
  for (const char* name : kTools) tools.push_back(std::async(std::launch::async, InspectTool, name));
  std::future<std::vector<GpuFacts>> gpus = std::async(std::launch::async, InspectGpus);
  std::future<Result<PythonInfo>> python = std::async(std::launch::async, FindPython, python_choice);

  DoctorFacts facts;
  utsname system{};
  uname(&system);
  facts.cpu = ParseCpu(KernelFile("/proc/cpuinfo"), KernelFile("/proc/meminfo"), system.machine);
  facts.cpu.cores = UsableCores();
  facts.folders = {InspectFolder("cache", CacheFolder()), InspectFolder("data", DataFolder())};
  facts.profiling_needs_root =
      geteuid() != 0 && Contains(KernelFile("/proc/driver/nvidia/params"), "RmProfilingAdminOnly: 1");
  facts.namespace_setting = NamespaceSetting();
  for (std::future<ToolFacts>& tool : tools) facts.tools.push_back(tool.get());
  facts.gpus = gpus.get();
  facts.gpu_without_driver = facts.gpus.empty() && NvidiaOnTheBus();
  Result<PythonInfo> found = python.get();
  if (found.ok()) {
    facts.python = *std::move(found);
  } else {
    facts.python_error = found.error().message;
  }
  facts.sandbox = DetectSandbox();
  return facts;
}

Readiness ReadinessOf(const DoctorFacts& facts) {
  Readiness ready;
  ready.cpu = facts.python.has_value();
  const bool gpu = ready.cpu && !facts.gpus.empty() && !facts.python->torch_cuda.empty();
  const bool triton = ready.cpu && !facts.python->triton_version.empty();
  ready.cuda = gpu;
  ready.triton = gpu && triton;
  ready.triton_interpreter = triton;
  return ready;
}

std::vector<Advice> AdviceFor(const DoctorFacts& facts) {
  std::vector<Advice> advice;
  const bool gpu = !facts.gpus.empty();
  const std::string pip = facts.python ? facts.python->program.string() + " -m pip install"
                                       : std::string("python3 -m pip install");

  if (!facts.python) {
    advice.push_back({"a Python with torch", "the reference to judge against; nothing runs without it",
                      "scripts/setup.sh (in Hone's source folder), or " + pip + " torch", true});
  }
  for (const FolderFacts& folder : facts.folders) {
    const std::string setting = folder.role == "cache" ? "HONE_CACHE" : "HONE_DATA";
    if (!folder.writable) {
      advice.push_back({fmt::format("a writable {} folder", folder.role),
                        folder.role == "cache" ? "compiled kernels and reference results kept between runs"
                                               : "runs and verdicts kept, and Hone's own Python",
                        fmt::format("export {}=/a/folder/you/own", setting), false});
    } else if (folder.free_bytes < kLowDiskBytes) {
      advice.push_back({fmt::format("disk space for the {} folder", folder.role),
                        fmt::format("room to build candidates; {} has {} left", folder.path.string(),
                                    HumanBytes(static_cast<double>(folder.free_bytes))),
                        fmt::format("export {}=/a/roomier/folder", setting), false});
    }
  }
  if (facts.gpu_without_driver) {
    advice.push_back({"the NVIDIA driver",
                      "CUDA and Triton candidates judged on the GPU that is in this machine",
                      "sudo apt-get install nvidia-driver (Ubuntu: sudo ubuntu-drivers install)", false});
  }
  if (gpu && facts.python && facts.python->torch_cuda.empty()) {
    advice.push_back({"a torch built for CUDA", "candidates judged on the GPU; this torch sees only the CPU",
                      pip + " --force-reinstall torch", false});
  }
  if (facts.python && facts.python->triton_version.empty()) {
    advice.push_back({"Triton", "Triton candidates: judged on a GPU, checked in its interpreter without one",
                      pip + " triton", false});
  }
  if (!facts.has("g++") && !facts.has("clang++")) {
    advice.push_back({"a C++ compiler", "C++ and CUDA candidates, and torch.compile on the CPU",
                      "sudo apt-get install g++", false});
  }
  if (!facts.has("ninja")) {
    advice.push_back({"ninja", "candidates that use torch.utils.cpp_extension.load_inline",
                      "sudo apt-get install ninja-build", false});
  }
  if (gpu && !facts.has("nvcc")) {
    advice.push_back({"nvcc", "candidates written in CUDA C++",
                      "sudo apt-get install nvidia-cuda-toolkit, or set CUDA_HOME", false});
  }
  if (gpu && !facts.has("ncu")) {
    advice.push_back({"Nsight Compute (ncu)", "measured bottlenecks of each kernel in the analysis",
                      "sudo apt-get install nsight-compute", false});
  } else if (gpu && facts.profiling_needs_root) {
    advice.push_back({"access to the GPU's counters", "measured bottlenecks of each kernel in the analysis",
                      "echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee "
                      "/etc/modprobe.d/nvidia-profiling.conf, then restart",
                      false});
  }
  if (gpu && !facts.has("compute-sanitizer")) {
    advice.push_back({"compute-sanitizer", "the line of an out-of-bounds access or race in a CUDA kernel",
                      "sudo apt-get install nvidia-cuda-toolkit", false});
  }
  if (facts.sandbox != SandboxLevel::kBubblewrap) {
    const std::string gives = "candidates without network, with their own processes and a read-only system";
    if (!facts.has("bwrap")) {
      advice.push_back({"bubblewrap", gives, "sudo apt-get install bubblewrap", false});
    } else {
      advice.push_back(
          {"bubblewrap that may make namespaces", gives,
           facts.namespace_setting.empty()
               ? "in a container: start it with --cap-add SYS_ADMIN --security-opt seccomp=unconfined"
               : "sudo sysctl -w " + facts.namespace_setting,
           false});
    }
  }
  return advice;
}

}  // namespace hone
