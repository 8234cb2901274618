// Tests the figures of a device: all are read, a missing one is named, files that recipes write contain the
// same figures, and the room's sources contain no copy of them.
#include "codegen/device_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
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

const fs::path kRooms = fs::path(HONE_SOURCE_DIR) / "src";
const fs::path kRoom = kRooms / "codegen";

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
  EXPECT_DOUBLE_EQ(costs->gpu.product.pytorch_tile, 128);
  EXPECT_DOUBLE_EQ(costs->gpu.product.least_filled, 0.59);
  EXPECT_DOUBLE_EQ(costs->gpu.graph.most_copied_bytes, 64e6);
  EXPECT_DOUBLE_EQ(LaunchUs(), 2);
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
  broken = cpu;
  broken["library"] = 1;
  EXPECT_THAT(ReadDeviceCosts(gpu, broken).error().message, HasSubstr("cpu.json: library is missing"));
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
  EXPECT_EQ(*DeviceSection("h200.json:cluster.resident.of_8"), "15");
  EXPECT_FALSE(DeviceSection("h200.json:nothing").ok());
  EXPECT_FALSE(DeviceSection("h200.json:cluster.nothing").ok());
  EXPECT_FALSE(DeviceSection("h200.json:cluster.about").ok());
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

// The CPU's kernel takes its figures one by one, because its text is C++.
TEST(DeviceCosts, EveryCycleOfTheCpuIsInItsKernel) {
  const Result<std::string> text = RuntimeText({"recurrent_cpu.py"});
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_THAT(*text, Not(HasSubstr("@@")));
  EXPECT_THAT(*text, HasSubstr("kWakeCycles = 15000;"));
  const std::string source = *ReadFile(kRoom / "templates" / "recurrent_cpu.cpp");
  std::map<std::string, double> figures;
  CollectFigures(GetMember(GetMember(DeviceJson("cpu.json"), "persistent"), "cycles"), "cycles", &figures);
  EXPECT_GT(figures.size(), 10u);
  for (const auto& [name, value] : figures)
    EXPECT_THAT(source, HasSubstr(" = @@cpu.json:persistent." + name + "@@;"));
}

bool IsWhole(double value) {
  return value == std::trunc(value);
}
// 0.59 and 0.0154, but not 0.9 and 0.25, which many things are.
bool IsDistinctive(double value) {
  return std::abs(20 * value - std::round(20 * value)) > 1e-9;
}

// Files of src with their paths from there; tests and what only tests include are left out.
std::map<std::string, std::string> Sources() {
  std::map<std::string, std::string> sources;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRooms)) {
    const std::string path = fs::relative(entry.path(), kRooms).string();
    const std::string kind = entry.path().extension().string();
    if (kind != ".cpp" && kind != ".h" && kind != ".py" && kind != ".cu") continue;
    if (EndsWith(path, "_test.cpp") || EndsWith(path, "_fixture.h")) continue;
    sources[path] = *ReadFile(entry.path());
  }
  return sources;
}

// "1.5e3", but not the digits of a name, a version or a number in hexadecimal. By hand, because std::regex
// takes seconds for all sources.
std::vector<std::string> NumbersIn(const std::string& line) {
  const auto is = [&](size_t at, auto kind) { return at < line.size() && kind(line[at]); };
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const auto of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  std::vector<std::string> numbers;
  for (size_t at = 0; at < line.size();) {
    if (!of_name(static_cast<unsigned char>(line[at]))) {
      ++at;
      continue;
    }
    const size_t begin = at;
    const auto digits = [&] {
      while (is(at, digit)) ++at;
    };
    digits();
    if (at > begin) {
      if (is(at, [](char c) { return c == '.'; }) && is(at + 1, digit)) {
        ++at;
        digits();
      }
      const size_t mantissa = at;
      if (is(at, [](char c) { return c == 'e' || c == 'E'; })) {
        ++at;
        if (is(at, [](char c) { return c == '+' || c == '-'; })) ++at;
        is(at, digit) ? digits() : void(at = mantissa);
      }
      if (!is(at, of_name)) numbers.push_back(line.substr(begin, at - begin));
    }
    while (is(at, of_name)) ++at;
  }
  return numbers;
}

// In this room a number with a fraction is measured, so one of them in a source is a copy; 0.5 is not,
// because half of something is arithmetic, whatever a step takes. Of the whole ones those are looked for that
// mean nothing but the device: rates, large counts of bytes, processors and multiples of them. In other rooms
// only numbers count that are unlikely to mean anything else, and comments may name them.
TEST(DeviceCosts, LeaveNoCopyInTheSources) {
  std::map<std::string, double> figures;
  CollectFigures(DeviceJson("h200.json"), "h200", &figures);
  CollectFigures(DeviceJson("cpu.json"), "cpu", &figures);
  ASSERT_GT(figures.size(), 80u);
  std::map<double, std::string> measured;
  for (const auto& [path, value] : figures)
    if (value != 0.5 && (!IsWhole(value) || value >= 1e5)) measured[value] = path;
  const double processors = figures["h200.device.processors"];
  measured[processors] = "h200.device.processors";
  measured[227] = "h200.device.shared_bytes in KiB";
  const std::set<std::string> others = {
      "evaluation/truth.cpp",  // the precision of TF32
      "model/prices.cpp",      // dollars
  };
  std::map<std::string, int> files;
  for (const auto& [path, text] : Sources()) {
    if (others.count(path) != 0) continue;
    const bool own_room = StartsWith(path, "codegen/");
    ++files[path.substr(0, path.find('/'))];
    for (const std::string& line : Lines(text))
      for (const std::string& number : NumbersIn(own_room ? line : line.substr(0, line.find("//")))) {
        const double value = std::stod(number);
        const auto copy = measured.find(value);
        const bool counts = own_room || (!IsWhole(value) && IsDistinctive(value));
        EXPECT_TRUE(copy == measured.end() || !counts)
            << path << " has " << number << ", which is " << copy->second << " of the device's file";
        EXPECT_FALSE(own_room && value > processors && std::fmod(value, processors) == 0)
            << path << " has " << number << ", a multiple of h200.device.processors";
      }
  }
  EXPECT_GT(files["codegen"], 150);
  EXPECT_GT(files["pipeline"], 20);
  EXPECT_GT(files.size(), 15u);
}

// A constant of a source that says in its name that it is a time or a rate is a cost of the device, or a
// limit on what Hone itself does. Only the latter may stand there.
TEST(DeviceCosts, NoConstantOfASourceIsATimeOrARate) {
  const std::set<std::string> limits = {
      "kAloneBlockUs", "kAloneInBlockUs", "kDrawUs",       "kLeastCallUs",  "kLeastKeptUs",
      "kLongCallUs",   "kLongLookUs",     "kNoTimeSeenUs", "kParseLimitUs",
  };
  const std::regex constant(
      R"(\b(k[A-Z]\w*?(_us|Us|_per_us|PerUs|PerSecond|_gbs|Tflops|Cycles))\b *= *[0-9]|^(_[A-Z_]*_(US|PER_US))\b *= *[0-9])");
  std::set<std::string> found;
  for (const auto& [path, text] : Sources())
    for (const std::string& line : Lines(text)) {
      std::smatch at;
      if (!Contains(line, " = ") || !std::regex_search(line, at, constant)) continue;
      const std::string name = at[1].matched ? at[1] : at[3];
      found.insert(name);
      EXPECT_EQ(limits.count(name), 1u)
          << path << " has " << name << "; a cost belongs in src/codegen/devices";
    }
  EXPECT_EQ(found, limits) << "names that are gone";
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
