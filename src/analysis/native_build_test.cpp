// A candidate may compile and load its own source. The same calls for other purposes are reported.
#include "analysis/native_build.h"

#include <gtest/gtest.h>

#include "analysis/lint.h"

namespace hone {
namespace {

const char* const kSource =
    "SOURCE = r\"\"\"\n#include <cmath>\nextern \"C\" void run(float* x, long n) {}\n\"\"\"\n";
const char* const kModel = R"(
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return build(x)
)";

std::vector<std::string> Suspicions(const std::string& code) {
  std::vector<std::string> out;
  for (const Finding& finding :
       LintSource("candidate.py", "import ctypes, os, shutil, subprocess, torch\n" + code + kModel).findings)
    if (finding.rule == "process-escape") out.push_back(finding.message);
  return out;
}

NativeBuild BuildOf(const std::string& code) {
  return ReadCandidate("candidate.py", "import ctypes, subprocess, torch\n" + code + kModel, {})->native;
}

TEST(NativeBuild, CompilingAndLoadingTheOwnSourceIsNoEscape) {
  const std::string code = std::string(kSource) + R"(
FLAGS = ["-O3", "-fPIC", "-shared"]

def build(x, target="kernel.so"):
    compiler = shutil.which("g++")
    subprocess.run([compiler, *FLAGS, "-x", "c++", "-", "-o", target], input=SOURCE.encode())
    with open("/proc/cpuinfo") as f:
        f.read()
    library = ctypes.CDLL(target)
    library.run(x.data_ptr(), x.numel())
    return x
)";
  EXPECT_TRUE(BuildOf(code).builds());
  EXPECT_EQ(Suspicions(code), std::vector<std::string>());
}

TEST(NativeBuild, NvrtcAndTheDriverAreNoEscape) {
  const std::string code = R"(
SOURCE = r"""extern "C" __global__ void run(float* x, long n) { x[0] = 1; }"""

def build(x):
    nvrtc = ctypes.CDLL("libnvrtc.so.13")
    nvrtc.nvrtcCompileProgram(None, 0, None)
    command = ["nvcc", "-arch=sm_90", "-cubin", "-o", "kernel.cubin", "kernel.cu"]
    subprocess.run(command, timeout=300)
    driver = ctypes.CDLL("libcuda.so.1")
    return x
)";
  EXPECT_TRUE(BuildOf(code).uses_nvrtc);
  EXPECT_EQ(Suspicions(code), std::vector<std::string>());
}

TEST(NativeBuild, OtherProgramsAndLibrariesStaySuspicious) {
  struct Row {
    const char* what;
    std::string code;
  };
  const std::string compile =
      std::string(kSource) +
      "def compile_it(t):\n    subprocess.run(['g++', '-shared', '-o', t], input=SOURCE)\n";
  for (const Row& row : std::vector<Row>{
           {"a program that compiles nothing", std::string(kSource) + "subprocess.run(['true'])\n"},
           {"a shell", std::string(kSource) + "subprocess.run('g++ -shared -o x.so x.cpp', shell=True)\n"},
           {"a shell with a list",
            std::string(kSource) + "subprocess.run(['g++ -shared', '-shared', '-o', 'x'], shell=True)\n"},
           {"a compiler without source of its own",
            "subprocess.run(['g++', '-shared', '-o', 'x.so', 'other.cpp'])\n"},
           {"a library without a build",
            std::string(kSource) + "def load(path):\n    return ctypes.CDLL(path)\n"},
           {"the process itself", compile + "libc = ctypes.CDLL(None)\n"},
           {"libc by name", compile + "libc = ctypes.CDLL('libc.so.6')\n"},
           {"Python's own library", compile + "python = ctypes.PyDLL(SOURCE)\n"},
           {"a removed folder", compile + "shutil.rmtree('x')\n"},
           {"its memory map", compile + "open('/proc/self/maps')\n"},
           {"an exit", compile + "os._exit(0)\n"}})
    EXPECT_EQ(Suspicions(row.code).size(), 1u) << row.what;
}

}  // namespace
}  // namespace hone
