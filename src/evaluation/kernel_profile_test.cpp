#include "evaluation/kernel_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::HasSubstr;

// Output of ncu 2025.3 on an H200 for torch.relu(a @ a), shortened to the ends of the columns.
constexpr char kPrinted[] =
    "ran\n"
    "==PROF== Connected to process 490 (/usr/bin/python3.12)\n"
    "==PROF== Disconnected from process 490\n"
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","490","python3.12","127.0.0.1","void relu<4, x, ""quoted"">(int, T2)","1","7","(128, 1, 1)","(4096, 1, 1)","0","9.0","Command line profiler metrics","gpu__time_duration.sum","ns","10,000"
"0","490","python3.12","127.0.0.1","void relu<4, x, ""quoted"">(int, T2)","1","7","(128, 1, 1)","(4096, 1, 1)","0","9.0","Command line profiler metrics","sm__throughput.avg.pct_of_peak_sustained_elapsed","%","20.00"
"1","490","python3.12","127.0.0.1","void cutlass::Kernel2<sgemm>(T1::Params)","1","7","(256, 1, 1)","(128, 1, 1)","0","9.0","Command line profiler metrics","gpu__time_duration.sum","ns","300,000"
"1","490","python3.12","127.0.0.1","void cutlass::Kernel2<sgemm>(T1::Params)","1","7","(256, 1, 1)","(128, 1, 1)","0","9.0","Command line profiler metrics","lts__t_sector_hit_rate.pct","%","92.51"
"1","490","python3.12","127.0.0.1","void cutlass::Kernel2<sgemm>(T1::Params)","1","7","(256, 1, 1)","(128, 1, 1)","0","9.0","Command line profiler metrics","sm__throughput.avg.pct_of_peak_sustained_elapsed","%","84.65"
"2","490","python3.12","127.0.0.1","void cutlass::Kernel2<sgemm>(T1::Params)","1","7","(256, 1, 1)","(128, 1, 1)","0","9.0","Command line profiler metrics","gpu__time_duration.sum","us","100"
"2","490","python3.12","127.0.0.1","void cutlass::Kernel2<sgemm>(T1::Params)","1","7","(256, 1, 1)","(128, 1, 1)","0","9.0","Command line profiler metrics","sm__throughput.avg.pct_of_peak_sustained_elapsed","%","80.65"
)csv";

TEST(ParseNcuCsv, GathersLaunchesByKernelWithTheLongestFirst) {
  const Result<std::vector<KernelMetrics>> kernels = ParseNcuCsv(kPrinted);
  ASSERT_TRUE(kernels.ok()) << kernels.error().message;
  ASSERT_EQ(kernels->size(), 2u);
  const KernelMetrics& product = kernels->at(0);
  EXPECT_EQ(product.kernel, "void cutlass::Kernel2<sgemm>(T1::Params)");
  EXPECT_EQ(product.launches, 2);
  EXPECT_DOUBLE_EQ(product.time_us, 400);
  EXPECT_NEAR(product.sm_percent, 83.65, 1e-9) << "weighted by time";
  EXPECT_NEAR(product.share, 400.0 / 410, 1e-12);
  EXPECT_EQ(kernels->at(1).kernel, "void relu<4, x, \"quoted\">(int, T2)");
}

TEST(ParseNcuCsv, SaysWhatIsMissing) {
  EXPECT_THAT(ParseNcuCsv("==ERROR== no permission\n").error().message, HasSubstr("no table"));
  const std::string heading = std::string(kPrinted).substr(0, std::string(kPrinted).find("\"0\""));
  EXPECT_THAT(ParseNcuCsv(heading).error().message, HasSubstr("no kernel"));
  EXPECT_FALSE(ParseNcuCsv("\"ID\",\"Kernel Name\n\"").ok());
}

TEST(KernelProfile, SurvivesJson) {
  KernelProfile profile;
  profile.kernels = *ParseNcuCsv(kPrinted);
  const KernelProfile again = KernelProfileFromJson(ToJson(profile));
  ASSERT_EQ(again.kernels.size(), 2u);
  EXPECT_EQ(ToJson(again), ToJson(profile));
}

TEST(WhyBusyAlready, SpeaksOfOneKernelThatTakesMostOfTheTimeAndFillsTheDevice) {
  KernelProfile profile;
  EXPECT_EQ(WhyBusyAlready(profile), "");
  profile.kernels = *ParseNcuCsv(kPrinted);
  EXPECT_EQ(WhyBusyAlready(profile), "its main kernel keeps the SMs 84% busy already (ncu)");
  profile.kernels[0].memory_percent = 91;
  EXPECT_EQ(WhyBusyAlready(profile), "its main kernel keeps the memory 91% busy already (ncu)");
  profile.kernels[0].share = 0.4;
  EXPECT_EQ(WhyBusyAlready(profile), "");
  profile.kernels[0] = KernelMetrics{"k", 1, 400, 0.9, 40, 60, 50, 50, 1};
  EXPECT_EQ(WhyBusyAlready(profile), "");
}

TEST(ProfileKernels, NamesTheThreeLargestKernelsForPrompts) {
  KernelProfile profile;
  for (const auto& [name, share] : {std::pair{"gemm", 0.6}, {"softmax", 0.2}, {"bias", 0.15}, {"copy", 0.05}})
    profile.kernels.push_back(KernelMetrics{name, 1, 100 * share, share, 40, 60, 50, 50, 1});
  const Json facts = ProfileFacts(profile);
  EXPECT_EQ(GetString(facts, "largest kernels and their share of the time"),
            "gemm 60%, softmax 20%, bias 15%");
  EXPECT_EQ(GetString(facts, "main kernel"), "gemm");
}

TEST(ProfileKernels, SaysWhyNotWithoutAGpu) {
  SessionOptions options;
  options.device = "cpu";
  const Result<KernelProfile> profile = ProfileKernels(TaskFile{}, CandidateFile{}, options);
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->why_not, "there is no GPU");
  EXPECT_EQ(ProfileFacts(*profile), Json(nullptr));
}

}  // namespace
}  // namespace hone
