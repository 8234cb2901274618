#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/ids.h"
#include "base/json.h"
#include "base/text.h"
#include "task/card.h"
#include "task/task_file.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TaskFile, KnowsItsNamePathTextAndHash) {
  TempFolder folder = *TempFolder::Make("hone-test-");
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "39_GRU.py", "class Model: pass\n").ok());
  const Result<TaskFile> task = LoadTaskFile(folder.path() / "." / "39_GRU.py");
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(task->name, "39_GRU");
  EXPECT_EQ(task->path, fs::canonical(folder.path() / "39_GRU.py"));
  EXPECT_EQ(task->source, "class Model: pass\n");
  EXPECT_EQ(task->sha256, Sha256("class Model: pass\n"));
}

TEST(TaskFile, RefusesWhatIsNoTextFileWithASentenceThatNamesIt) {
  TempFolder folder = *TempFolder::Make("hone-test-");
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "binary.py", std::string("a\0b", 3)).ok());
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "large.py", std::string((4 << 20) + 1, '#')).ok());
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "largest.py", std::string(4 << 20, '#')).ok());
  fs::create_symlink("nowhere.py", folder.path() / "dangling.py");
  struct Row {
    const char* name;
    const char* says;
  };
  for (const Row& row : std::vector<Row>{{"missing.py", "there is no file"},
                                         {"dangling.py", "there is no file"},
                                         {".", "is a folder"},
                                         {"binary.py", "is not a text file"},
                                         {"large.py", "larger than 4.0 MiB"}}) {
    const Result<TaskFile> task = LoadTaskFile(folder.path() / row.name);
    ASSERT_FALSE(task.ok()) << row.name;
    EXPECT_THAT(task.error().message, HasSubstr(row.says)) << row.name;
    EXPECT_THAT(task.error().message, HasSubstr("task: ")) << row.name;
  }
  EXPECT_TRUE(LoadTaskFile(folder.path() / "largest.py").ok());
}

Json CardJson() {
  return {{"modules", {{"GRU", 1}, {"Linear", 2}}},
          {"operators", {{"aten::mm", 12}, {"aten::tanh", 3}}},
          {"inputs", Json::array({{{"dtype", "float32"}, {"shape", {512, 10, 128}}}})},
          {"outputs", Json::array({{{"dtype", "float32"}, {"shape", {10, 256}}}})},
          {"parameters", 1000},
          {"weight_bytes", 4000},
          {"input_bytes", 2'621'440},
          {"output_bytes", 10'240},
          {"flops", 2e9},
          {"serial_chain", 512},
          {"launches", 40}};
}

TEST(Card, GoesThroughJsonUnchanged) {
  const Card card = CardFromJson(CardJson());
  EXPECT_EQ(card.operator_calls(), 15);
  EXPECT_EQ(card.least_bytes(), 4000 + 2'621'440 + 10'240);
  const Json json = ToJson(card);
  const Json original = CardJson();
  for (const auto& [key, value] : original.items()) EXPECT_EQ(json.at(key), value) << key;
  EXPECT_EQ(json.at("operator_calls"), 15);
  EXPECT_EQ(json.at("least_bytes"), card.least_bytes());
  Card with_floor = CardFromJson(json);
  EXPECT_EQ(ToJson(with_floor), json);
  Ceilings ceilings;
  ceilings.memory_bytes_per_s = 1e9;
  ceilings.flops_per_s = {{"float32", 1e9}};
  SetFloor(&with_floor, ceilings, {});
  ASSERT_GT(with_floor.floor_us, 0);
  EXPECT_EQ(ToJson(CardFromJson(ToJson(with_floor))), ToJson(with_floor));
}

TEST(Card, ReadsOddJsonWithoutThrowing) {
  const std::vector<const char*> odd = {
      "null",
      "[]",
      "7",
      R"("card")",
      "{}",
      R"({"modules":[1,2],"operators":"many","inputs":{"a":1},"outputs":7})",
      R"({"modules":{"GRU":"one","LSTM":null,"Linear":1.5}})",
      R"({"inputs":[1,null,"x",[],{"shape":"wide"},{"shape":[1,"2",null,2.5]},{"dtype":9}]})",
      R"({"parameters":"lots","flops":null,"serial_chain":[],"launches":"none"})",
      R"({"parameters":1e300,"weight_bytes":-5,"flops":-1})",
  };
  for (const char* text : odd) {
    Card card = CardFromJson(*ParseJson(text));
    SetFloor(&card, Ceilings{}, {});
    EXPECT_TRUE(ParseJson(DumpJson(ToJson(card))).ok()) << text;
    EXPECT_THAT(CardText(card), HasSubstr("inputs")) << text;
  }
  const Card sparse = CardFromJson(*ParseJson(R"({"inputs":[{"shape":[1,"2",3]}]})"));
  ASSERT_EQ(sparse.inputs.size(), 1u);
  EXPECT_EQ(sparse.inputs[0].dtype, "?");
  EXPECT_EQ(sparse.launches, -1);
}

TEST(Card, TextTellsEverythingAPersonAsks) {
  Card card = CardFromJson(CardJson());
  Ceilings ceilings;
  ceilings.memory_bytes_per_s = 1e9;
  ceilings.flops_per_s = {{"float32", 1e9}};
  SetFloor(&card, ceilings, {});
  const std::string text = CardText(card);
  for (const char* part : {"float32 [512, 10, 128]", "float32 [10, 256]", "Linear x2", "GRU x1",
                           "1000 (3.9 KiB)", "15 calls", "aten::mm x12", "2 GFLOP", "2.5 MiB",
                           "512 dependent operators", "40 per forward", "arithmetic bound"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_LT(text.find("aten::mm"), text.find("aten::tanh")) << "the most frequent first";
  card.launches = -1;
  EXPECT_THAT(CardText(card), HasSubstr("not counted"));
  EXPECT_TRUE(ToJson(card).at("launches").is_null());
}

TEST(Card, TextShortensLongListsAndSaysSo) {
  Card card;
  for (int i = 0; i < 20; ++i) card.operators["aten::op" + std::to_string(i)] = i + 1;
  const std::string text = CardText(card);
  EXPECT_THAT(text, HasSubstr("aten::op19 x20"));
  EXPECT_THAT(text, HasSubstr("12 more kinds"));
  EXPECT_THAT(text, Not(HasSubstr("aten::op0 x1")));
}

TEST(Card, TextIsWrappedAtAWidth) {
  Card card;
  for (int i = 0; i < 20; ++i) card.operators["aten::op" + std::to_string(i)] = i + 1;
  EXPECT_THAT(Lines(CardText(card)), testing::Contains(testing::SizeIs(testing::Gt(80U))));
  EXPECT_THAT(Lines(CardText(card, 60)), testing::Each(testing::SizeIs(testing::Le(60U))));
}

TEST(Ceilings, KeepTheLargerOfWhatWasSeen) {
  Ceilings busy, quiet;
  busy.memory_bytes_per_s = 7e9;
  busy.cache_bytes_per_s = 6e10;
  busy.flops_per_s = {{"float32", 2.6e10}, {"float64", 2e10}};
  quiet.memory_bytes_per_s = 2e10;
  quiet.cache_bytes_per_s = 5e10;
  quiet.flops_per_s = {{"float32", 2.2e11}};
  const Ceilings both = CeilingsFromJson(ToJson(Larger(busy, quiet)));
  EXPECT_EQ(both.memory_bytes_per_s, 2e10);
  EXPECT_EQ(both.cache_bytes_per_s, 6e10);
  EXPECT_EQ(both.flops_per_s, (std::map<std::string, double>{{"float32", 2.2e11}, {"float64", 2e10}}));
}

TEST(Ceilings, TakeOnlyRatesThatAreThere) {
  const Ceilings ceilings = CeilingsFromJson(*ParseJson(
      R"({"memory_bytes_per_s":2e10,"cache_bytes_per_s":1e11,"float32_flops_per_s":1e11,"tf32_flops_per_s":0,
          "bfloat16_flops_per_s":"fast","int8_flops_per_s":1e12})"));
  EXPECT_EQ(ceilings.memory_bytes_per_s, 2e10);
  EXPECT_EQ(ceilings.cache_bytes_per_s, 1e11);
  EXPECT_EQ(ceilings.flops_per_s, (std::map<std::string, double>{{"float32", 1e11}}));
  EXPECT_TRUE(CeilingsFromJson(Json()).flops_per_s.empty());
}

TEST(Floor, IsTheSlowerOfArithmeticAndMemory) {
  struct Row {
    const char* what;
    std::string dtype;
    double flops;
    int64_t bytes;
    bool tf32;
    double floor_us;
    const char* bound;
  };
  Ceilings ceilings;
  ceilings.memory_bytes_per_s = 1e9;
  ceilings.flops_per_s = {
      {"float32", 1e10}, {"tf32", 1e11}, {"float16", 2e10}};  // float16: see the next test
  for (const Row& row : std::vector<Row>{
           {"arithmetic", "float32", 1e9, 1000, false, 1e5, "arithmetic"},
           {"TF32 where the reference may use it", "float32", 1e9, 1000, true, 1e4, "arithmetic"},
           {"memory", "float32", 1e3, 1'000'000, false, 1e3, "memory"},
           {"the rate of the dtype", "float16", 2e9, 1000, false, 1e5, "arithmetic"},
           {"TF32 is nothing to float16", "float16", 2e9, 1000, true, 1e5, "arithmetic"},
           {"float32's rate for a dtype without one", "int64", 1e9, 1000, false, 1e5, "arithmetic"},
           {"nothing to do", "float32", 0, 0, false, 0, "memory"}}) {
    Card card;
    card.outputs = {{row.dtype, {1}}};
    card.flops = row.flops;
    card.weight_bytes = row.bytes;
    SetFloor(&card, ceilings, {row.tf32, row.tf32});
    EXPECT_DOUBLE_EQ(card.floor_us, row.floor_us) << row.what;
    EXPECT_EQ(card.floor_bound, row.bound) << row.what;
  }
}

TEST(Floor, TakesEachFloat32OperatorAtTheRateThatItsPrecisionAllows) {
  struct Row {
    const char* what;
    double cudnn, others;  // FLOPs
    Tf32Allowed tf32;
    double floor_us, mean_rate, library_us;
  };
  Ceilings ceilings;
  ceilings.flops_per_s = {{"float32", 5e13}, {"tf32", 4e14}, {"float16", 9e14}};
  for (const Row& row : std::vector<Row>{
           {"convolutions that round to TF32, as fp16", 9e12, 0, {true, false}, 1e4, 9e14, 2.25e4},
           {"convolutions that do not, as three products", 9e12, 0, {false, true}, 3e4, 3e14, 1.8e5},
           {"other products are not cuDNN's", 0, 9e12, {true, false}, 3e4, 3e14, 1.8e5},
           {"other products that may round", 0, 9e12, {false, true}, 1e4, 9e14, 2.25e4},
           {"both", 9e12, 9e12, {true, false}, 4e4, 4.5e14, 2.025e5},
           {"both, and all may round", 9e12, 9e12, {true, true}, 2e4, 9e14, 4.5e4}}) {
    Card card;
    card.outputs = {{"float32", {1}}};
    card.flops = row.cudnn + row.others;
    card.cudnn_flops = row.cudnn;
    SetFloor(&card, ceilings, row.tf32);
    EXPECT_NEAR(card.floor_us, row.floor_us, 1e-6 * row.floor_us) << row.what;
    EXPECT_NEAR(card.ceiling_flops_per_s, row.mean_rate, 1e-6 * row.mean_rate) << row.what;
    const Card again = CardFromJson(ToJson(card));
    EXPECT_EQ(again.cudnn_flops, row.cudnn) << row.what;
    EXPECT_NEAR(again.library_us, row.library_us, 1e-6 * row.library_us) << row.what;
  }
  // float32's own rate where a third of float16's is less, and where float16 was not measured.
  for (const double half : {1e14, 0.0}) {
    Card card;
    card.outputs = {{"float32", {1}}};
    card.flops = 5e12;
    ceilings.flops_per_s = {{"float32", 5e13}};
    if (half > 0) ceilings.flops_per_s["float16"] = half;
    SetFloor(&card, ceilings, {});
    EXPECT_DOUBLE_EQ(card.floor_us, 1e5);
  }
  // Float64 and fp16 networks have one rate. More FLOPs of cuDNN than there are in all are those of all.
  Card card;
  card.outputs = {{"float64", {1}}};
  card.flops = 6e12;
  card.cudnn_flops = 9e12;
  ceilings.flops_per_s = {{"float64", 6e13}, {"float16", 9e14}};
  SetFloor(&card, ceilings, {true, true});
  EXPECT_DOUBLE_EQ(card.floor_us, 1e5);
}

TEST(Floor, IsZeroWithoutCeilingsAndNeverInfinite) {
  Card card;
  card.flops = 1e12;
  card.weight_bytes = 1 << 30;
  SetFloor(&card, Ceilings{}, {true, true});
  EXPECT_EQ(card.floor_us, 0);
  EXPECT_EQ(ImpossibleBelowUs(card, Ceilings{}), 0);
}

TEST(ImpossibleBelow, CountsInputsAndOutputsAtTwiceTheFastestMemoryAndNoWeights) {
  Card card;
  card.input_bytes = 3'000'000;
  card.output_bytes = 1'000'000;
  card.weight_bytes = 1 << 30;  // may stay in a cache, packed or pruned
  Ceilings ceilings;
  ceilings.memory_bytes_per_s = 1e9;
  ceilings.cache_bytes_per_s = 1e10;
  EXPECT_DOUBLE_EQ(ImpossibleBelowUs(card, ceilings), 200);
  ceilings.cache_bytes_per_s = 0;
  EXPECT_DOUBLE_EQ(ImpossibleBelowUs(card, ceilings), 2000);
}

}  // namespace
}  // namespace hone
