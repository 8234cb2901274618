#include "cli/doctor_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> MissingIn(const DoctorFacts& facts) {
  std::vector<std::string> names;
  for (const Advice& advice : AdviceFor(facts)) names.push_back(advice.missing);
  return names;
}

// A GPU server that lacks nothing.
DoctorFacts Complete() {
  DoctorFacts facts;
  facts.cpu = {"A CPU", "x86_64", 16, {"AVX2"}, int64_t{64} << 30, int64_t{32} << 30};
  facts.gpus = {{"NVIDIA H200", "580.1", "9.0", int64_t{139} << 30}};
  for (const char* name : {"g++", "clang++", "nvcc", "ninja", "ncu", "compute-sanitizer", "bwrap"}) {
    facts.tools.push_back({name, std::string("/usr/bin/") + name, "1.2.3"});
  }
  facts.python = PythonInfo{"/venv/bin/python3", "VIRTUAL_ENV", "3.12.1", "2.11.0", "13.0", "3.6.0", {}, {}};
  facts.sandbox = SandboxLevel::kBubblewrap;
  facts.folders = {{"cache", "/cache", true, int64_t{50} << 30}, {"data", "/data", true, int64_t{50} << 30}};
  return facts;
}

TEST(ParseVersion, FindsItInWhatEachToolPrints) {
  EXPECT_EQ(ParseVersion("g++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022"), "12.2.0");
  EXPECT_EQ(ParseVersion("Ubuntu clang version 18.1.3 (1ubuntu1)\nTarget: x86_64"), "18.1.3");
  EXPECT_EQ(ParseVersion("nvcc: NVIDIA (R)\nCopyright (c) 2005-2025\nCuda tools, release 13.0, V13.0.88\n"),
            "13.0.88");
  EXPECT_EQ(ParseVersion("NVIDIA (R) Nsight Compute\nCopyright\nVersion 2024.3.2.0 (build 3486)"),
            "2024.3.2.0");
  EXPECT_EQ(ParseVersion("1.11.1\n"), "1.11.1");
  EXPECT_EQ(ParseVersion("bubblewrap 0.8.0"), "0.8.0");
  EXPECT_EQ(ParseVersion("no idea."), "");
}

TEST(ParseCpu, ReadsBothArchitectures) {
  const CpuFacts x86 = ParseCpu("model name\t: A CPU\nflags\t\t: fpu avx2 fma avx512f\n",
                                "MemTotal:   1024 kB\nMemAvailable:    512 kB\n", "x86_64");
  EXPECT_EQ(x86.model, "A CPU");
  EXPECT_THAT(x86.features, ElementsAre("AVX2", "FMA", "AVX-512"));
  EXPECT_EQ(x86.memory_bytes, 1024 * 1024);
  const CpuFacts arm = ParseCpu("processor : 0\nFeatures\t: fp asimd sve\n", "", "aarch64");
  EXPECT_EQ(arm.model, "aarch64");
  EXPECT_THAT(arm.features, ElementsAre("NEON", "SVE"));
}

TEST(ParseGpuList, ReadsOneLinePerGpu) {
  const std::vector<GpuFacts> gpus =
      ParseGpuList("NVIDIA H200, 580.95, 143771, 9.0\nTesla K80, 470.1, 11441\nnonsense\n");
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(gpus[0].compute_capability, "9.0");
  EXPECT_EQ(gpus[0].memory_bytes, int64_t{143771} << 20);
  EXPECT_EQ(gpus[1].compute_capability, "");
}

TEST(Advice, IsEmptyWhenNothingIsMissing) {
  EXPECT_THAT(MissingIn(Complete()), IsEmpty());
  EXPECT_THAT(DoctorText(Complete(), Style(false)), HasSubstr("Ready to judge: cpu, cuda, triton\n"));
}

TEST(Advice, DoesNotAskForGpuToolsWithoutAGpu) {
  DoctorFacts facts = Complete();
  facts.gpus.clear();
  facts.tools.clear();
  facts.tools = {{"g++", "/usr/bin/g++", ""}, {"ninja", "/usr/bin/ninja", ""}};
  EXPECT_THAT(MissingIn(facts), IsEmpty());
  EXPECT_TRUE(ReadinessOf(facts).triton_interpreter);
  EXPECT_FALSE(ReadinessOf(facts).cuda);
}

TEST(Advice, NamesWhatIsMissingAndHowToGetIt) {
  DoctorFacts facts = Complete();
  facts.tools = {{"bwrap", "/usr/bin/bwrap", ""}};
  facts.python.reset();
  facts.python_error = "no Python with torch was found";
  facts.sandbox = SandboxLevel::kLandlock;
  facts.namespace_setting = "kernel.apparmor_restrict_unprivileged_userns=0";
  facts.folders[0].writable = false;
  EXPECT_THAT(MissingIn(facts), ElementsAre("a Python with torch", "a writable cache folder",
                                            "a C++ compiler", "ninja", "nvcc", "Nsight Compute (ncu)",
                                            "compute-sanitizer", "bubblewrap that may make namespaces"));
  EXPECT_FALSE(ReadinessOf(facts).cpu);
  const std::string text = DoctorText(facts, Style(false));
  EXPECT_THAT(text, HasSubstr("sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"));
  EXPECT_THAT(text, HasSubstr("Not ready"));
}

TEST(DoctorText, IsPlainWithoutColour) {
  EXPECT_THAT(DoctorText(Complete(), Style(false)), Not(HasSubstr("\033")));
  EXPECT_THAT(DoctorText(Complete(), Style(true)), HasSubstr("\033"));
}

TEST(DoctorJson, CarriesTheSameFacts) {
  const OrderedJson json = DoctorJson(Complete());
  EXPECT_EQ(json["python"]["torch"], "2.11.0");
  EXPECT_EQ(json["gpus"][0]["name"], "NVIDIA H200");
  EXPECT_EQ(json["tools"]["nvcc"]["version"], "1.2.3");
  EXPECT_TRUE(json["ready"]["triton"].get<bool>());
  EXPECT_TRUE(json["missing"].empty());
}

}  // namespace
}  // namespace hone
