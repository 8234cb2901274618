// Tests the figures of a device: all are read, a missing one is named, files that recipes write contain the
// same figures, and the room's sources contain no copy of them.
#include "codegen/device_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "codegen/recipe.h"
#include "codegen/recurrent_text.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

const fs::path kRoom = fs::path(HONE_SOURCE_DIR) / "src/codegen";

Json DeviceJson(const char* name) {
  return *ParseJson(*ReadFile(kRoom / "devices" / name));
}

// Lists every number in a file by its path.
void CollectFigures(const Json& json, const std::string& path, std::map<std::string, double>* figures) {
  if (json.is_number()) (*figures)[path] = json.get<double>();
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items())
    if (key != "about") CollectFigures(value, path + "." + key, figures);
}

TEST(DeviceCosts, AreReadFromTheFiles) {
  const Result<DeviceCosts> costs = LoadDeviceCosts();
  ASSERT_TRUE(costs.ok()) << costs.error().message;
  EXPECT_EQ(costs->gpu.processors, 132);
  EXPECT_EQ(costs->gpu.shared_bytes, 227 * 1024);
  EXPECT_DOUBLE_EQ(costs->gpu.cluster.rnn.precise_us, 0.65);
  EXPECT_EQ(costs->gpu.cluster.rnn.single.of_16, 1024);
  EXPECT_DOUBLE_EQ(costs->gpu.grid.l2_kb_us, 0.0154);
  EXPECT_DOUBLE_EQ(costs->gpu.cudnn.beside_us, 2.6);
  EXPECT_DOUBLE_EQ(costs->cpu.persistent_share, 0.85);
}

TEST(DeviceCosts, NameTheFirstFigureThatIsMissing) {
  const Json gpu = DeviceJson("h200.json"), cpu = DeviceJson("cpu.json");
  Json broken = gpu;
  broken["grid"]["mma_us"] = "fast";
  EXPECT_THAT(ReadDeviceCosts(broken, cpu).error().message, HasSubstr("h200.json: grid.mma_us"));
  broken = gpu;
  broken["cluster"]["step_us"]["GRU"] = Json::object();
  EXPECT_THAT(ReadDeviceCosts(broken, cpu).error().message, HasSubstr("cluster.step_us.GRU.wavefront"));
  broken = cpu;
  broken["library"]["compile"] = Json::object();
  EXPECT_THAT(ReadDeviceCosts(gpu, broken).error().message, HasSubstr("cpu.json: library.compile"));
}

TEST(DeviceCosts, EveryLibraryRecipeHasItsOwn) {
  const Result<DeviceCosts> costs = LoadDeviceCosts();
  ASSERT_TRUE(costs.ok());
  for (const Recipe& recipe : AllRecipes()) {
    const std::string name = recipe.name;
    if (!StartsWith(name, "library/")) continue;
    const std::string way = name == "library/tf32" ? "eager" : name.substr(8);
    EXPECT_EQ(costs->gpu.library.count(way) + costs->cpu.library.count(way) > 0, true) << name;
  }
}

TEST(DeviceSection, IsAValueWithoutRemarks) {
  const Result<std::string> section = DeviceSection("h200.json:choice");
  ASSERT_TRUE(section.ok()) << section.error().message;
  EXPECT_EQ(*ParseJson(*section), *ParseJson(R"({"of_pytorch": 0.9})"));
  EXPECT_FALSE(DeviceSection("h200.json:nothing").ok());
  EXPECT_FALSE(DeviceSection("b300.json:choice").ok());
}

TEST(DeviceCosts, AreInEveryFileThatPredictsWithThem) {
  const Result<std::string> text =
      RuntimeText({"part_runtime.py", "part_recurrent_modules.py", "part_cuda_driver.py", "recurrent_cuda.py",
                   "recurrent_grid.py", "recurrent_step.py", "split_gemm.py"});
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_THAT(*text, Not(HasSubstr("@@")));
  const std::map<std::string, std::string> names = {
      {"_DEVICE", "device"}, {"_CLUSTER", "cluster"}, {"_GRID", "grid"},        {"_STEP", "step"},
      {"_CUDNN", "cudnn"},   {"_CHOICE", "choice"},   {"_SPLIT", "split_gemm"},
  };
  for (const auto& [name, section] : names) {
    const size_t at = text->find("\n" + name + " = {");
    ASSERT_NE(at, std::string::npos) << name;
    const size_t begin = at + name.size() + 4, end = text->find('\n', begin);
    std::string value = text->substr(begin, end - begin);
    value = value.substr(0, value.rfind('}') + 1);
    EXPECT_EQ(*ParseJson(value), *ParseJson(*DeviceSection("h200.json:" + section))) << name;
  }
}

// Numbers with a fraction are measured, so one of them in a source is a copy. Of the integers, the test looks
// for those that describe only the device.
TEST(DeviceCosts, LeaveNoCopyInTheSources) {
  std::map<std::string, double> figures;
  CollectFigures(DeviceJson("h200.json"), "h200", &figures);
  CollectFigures(DeviceJson("cpu.json"), "cpu", &figures);
  ASSERT_GT(figures.size(), 80u);
  std::map<double, std::string> measured;
  for (const auto& [path, value] : figures)
    if (value != static_cast<double>(static_cast<int64_t>(value))) measured[value] = path;
  measured[figures["h200.device.processors"]] = "h200.device.processors";
  measured[figures["h200.device.shared_bytes"]] = "h200.device.shared_bytes";
  measured[227] = "h200.device.shared_bytes in KiB";
  measured.erase(0.5);  // half of a value is arithmetic, whatever a step takes
  const std::regex number(R"((^|[^\w.])(\d+(\.\d+)?([eE][+-]?\d+)?)(?![\w.]))");
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoom)) {
    const std::string name = entry.path().filename().string();
    const bool source = EndsWith(name, ".cpp") || EndsWith(name, ".h") || EndsWith(name, ".py");
    // The CPU kernel has its own model, in cycles, which no other code needs.
    if (!source || EndsWith(name, "_test.cpp") || name == "recurrent_cpu.cpp") continue;
    ++files;
    const std::string text = *ReadFile(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), number), end; at != end; ++at) {
      const auto copy = measured.find(std::stod((*at)[2]));
      EXPECT_TRUE(copy == measured.end())
          << name << " has " << (*at)[2] << ", which is " << copy->second << " of the device's file";
    }
  }
  EXPECT_GT(files, 40);
}

// Bytes and microseconds of KernelBench tasks on an H200 (bench/README.md).
TEST(DeviceCosts, FusedKernelsArePredictedAsTheyWereMeasured) {
  const FusedGpuCosts fused = LoadDeviceCosts()->gpu.fused;
  struct Row {
    const char *task, *layout;
    double bytes, us;
  };
  for (const Row& row :
       {Row{"26 GELU", "pointwise", 12.88e9, 3120}, Row{"23 Softmax", "resident", 12.88e9, 3760},
        Row{"34 InstanceNorm", "resident", 15.03e9, 4180}, Row{"40 LayerNorm", "split", 570e6, 248},
        Row{"41 Max Pooling 1D", "pool", 6.44e9, 1704}, Row{"42 Max Pooling 2D", "pool", 4.29e9, 1228},
        Row{"98 KLDivLoss", "row", 1.07e9 * 2, 672}, Row{"47 Sum", "column", 8.59e9, 2250}}) {
    const double predicted = fused.Us({{row.layout, row.bytes}});
    EXPECT_NEAR(predicted / row.us, 1, 0.12) << row.task << ": " << predicted;
  }
}

}  // namespace
}  // namespace hone
