#include "model/analysis_record.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include <ctime>

#include "base/text.h"
#include "model/knowledge.h"

namespace hone {
namespace {

const std::string kPlain = R"({"worth_optimizing": true, "reason": "r", "bottleneck": "launches",
 "optimisation_method": "persistent kernel", "modification_plan": "loop inside", "expected_speedup": 4.5,
 "implementation_complexity": "high", "kernel_type": "persistent_recurrent"})";

struct Shape {
  const char* name;
  std::string reply;
};

class ReadsTheSameAnalysis : public testing::TestWithParam<Shape> {};

TEST_P(ReadsTheSameAnalysis, InEveryShape) {
  const Result<AnalysisRecord> record = ParseAnalysis(GetParam().reply);
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_EQ(ToJson(*record), *ParseJson(kPlain));
}

INSTANTIATE_TEST_SUITE_P(
    Analysis, ReadsTheSameAnalysis,
    testing::Values(
        Shape{"Plain", kPlain},
        Shape{"Prose", "Looking at {the card}, I say: " + kPlain + " and that {is} it."},
        Shape{"Fence", "```json\n" + kPlain + "\n```\n"},
        Shape{"Thinking",
              "<think>{\"worth_optimizing\": false, \"reason\": \"hm\", \"method\": \"x\"}</think>" + kPlain},
        Shape{"Nested", "{\"analysis\": " + kPlain + "}"}, Shape{"List", "[" + kPlain + ",]"},
        Shape{"Windows", ReplaceAll(kPlain, "\n", "\r\n")},
        Shape{"PythonDict",
              "analysis = {'worth_optimizing': True, 'reason': 'r', 'bottleneck': 'launches',\n"
              "  'optimisation_method': 'persistent' ' kernel', 'modification_plan': '''loop inside''',\n"
              "  'expected_speedup': 4.5, 'implementation_complexity': 'high', # hm\n"
              "  'kernel_type': \"persistent_recurrent\",}"},
        Shape{"CommentsAndBareKeys",
              "{ // first\n worth_optimizing: true, reason: r, /* {two} */ bottleneck: \"launches\", method: "
              "\"persistent kernel\"\n modification_plan: \"loop inside\"; expected_speedup: \"4.5x\", "
              "complexity: high,, "
              "kernel_type: persistent_recurrent }"},
        Shape{"OldNames",
              R"({"Worth Optimizing": "Yes", "reason": "r", "bottleneck": "launches", "optimisation method":
                "persistent kernel", "modification plan": ["loop inside"], "expected speedup": "~4.5x",
                "Implementation Complexity": "High: needs a barrier", "kernel type": "persistent_recurrent"})"},
        Shape{"AmericanNames",
              R"({"worth_optimizing": "true", "reason": "r", "bottleneck": "launches", "optimization-method":
                "persistent kernel", "plan": "loop inside", "expected_speedup": "350%", "difficulty": "hard",
                "kernel_class": "persistent_recurrent"})"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Analysis, SpeedupsAreReadAsFactors) {
  const std::pair<const char*, double> kCases[] = {
      {"\"30%\"", 1.3}, {"\"1.5x\"", 1.5},       {"\"~2x\"", 2},          {"2", 2},           {"\"2-3x\"", 2},
      {"0.3", 1.3},     {"\"20 - 30 %\"", 1.2},  {"\"5\xC3\x97\"", 5},    {"\"unknown\"", 0}, {"null", 0},
      {"30%", 1.3},     {"\"10 percent\"", 1.1}, {"\"up to 1.8x\"", 1.8}, {"\"1e99\"", 0},    {"-3", 3},
  };
  for (const auto& [text, expected] : kCases) {
    const Result<AnalysisRecord> record = ParseAnalysis(
        std::string("{\"method\": \"m\", \"expected speedup\": ") + text + ", \"reason\": \"r\"}");
    ASSERT_TRUE(record.ok()) << text;
    EXPECT_NEAR(record->expected_speedup, expected, 1e-9) << text;
  }
}

TEST(Analysis, YesAndNoComeInManyWords) {
  const std::pair<const char*, bool> kCases[] = {
      {"true", true},
      {"\"yes\"", true},
      {"\"Yes, clearly\"", true},
      {"1", true},
      {"\"worth it\"", true},
      {"False", false},
      {"\"no\"", false},
      {"\"No: it is at the floor\"", false},
      {"\"not worth it\"", false},
      {"0", false},
  };
  for (const auto& [text, expected] : kCases) {
    const Result<AnalysisRecord> record = ParseAnalysis(std::string("{\"worth_optimizing\": ") + text +
                                                        ", \"method\": \"m\", \"reason\": \"r\"}");
    ASSERT_TRUE(record.ok()) << text;
    EXPECT_EQ(record->worth_optimizing, expected) << text;
  }
}

TEST(Analysis, ComplexityIsOneOfThreeWordsAndTheWorseOfTwo) {
  const std::pair<const char*, const char*> kCases[] = {{"Low", "low"},          {"moderate", "medium"},
                                                        {"medium-high", "high"}, {"simple change", "low"},
                                                        {"?", "medium"},         {"very hard", "high"}};
  for (const auto& [word, expected] : kCases) {
    const Json json = {{"method", "m"}, {"complexity", word}};
    EXPECT_EQ(AnalysisFromJson(json)->implementation_complexity, expected) << word;
  }
}

TEST(Analysis, ThePlaceOfTheTimeLoopIsOneOfThreeWordsOrNotSaid) {
  const std::pair<const char*, const char*> kCases[] = {
      {"inside_kernel", "inside_kernel"},
      {"Inside the kernel", "inside_kernel"},
      {"in-kernel", "inside_kernel"},
      {"host", "host"},
      {"on the host", "host"},
      {"none", "none"},
      {"not applicable", "none"},
      {"somewhere", ""},
      {"", ""},
  };
  for (const auto& [word, expected] : kCases) {
    const Result<AnalysisRecord> record = AnalysisFromJson({{"method", "m"}, {"time loop", word}});
    EXPECT_EQ(record->time_loop, expected) << word;
    EXPECT_EQ(ToJson(*record).contains("time_loop"), *expected != 0)
        << "records of old runs stay as they are";
    EXPECT_EQ(AnalysisFromJson(ToJson(*record))->time_loop, expected);
  }
}

TEST(Analysis, TheSchemaNamesEveryFieldOfTheRecordAndNoOther) {
  const Json schema = *ParseJson(AnalysisSchema());
  Json record = ToJson(*ParseAnalysis(kPlain));
  record["time_loop"] = "host";
  std::vector<std::string> fields, properties, required;
  for (const auto& [name, value] : record.items()) fields.push_back(name);
  for (const auto& [name, value] : GetMember(schema, "properties").items()) {
    properties.push_back(name);
    EXPECT_FALSE(GetString(value, "type").empty()) << name;
  }
  for (const Json& name : GetMember(schema, "required")) required.push_back(name.get<std::string>());
  EXPECT_EQ(properties, fields);
  EXPECT_EQ(required, fields) << "OpenAI refuses a strict schema with optional fields";
  EXPECT_FALSE(GetBool(schema, "additionalProperties", true));
  // The parser accepts every word that the schema allows.
  for (const Json& word : GetMember(GetMember(GetMember(schema, "properties"), "time_loop"), "enum"))
    EXPECT_EQ(AnalysisFromJson({{"method", "m"}, {"time_loop", word}})->time_loop, word.get<std::string>());
}

TEST(Analysis, WhatCannotBeUsedIsRefusedWithASentence) {
  const std::pair<const char*, const char*> kCases[] = {
      {"", "the reply holds no JSON object with the fields of an analysis"},
      {"I would fuse the gates.", "the reply holds no JSON object with the fields of an analysis"},
      {"{\"a\": 1}", "the reply holds no JSON object with the fields of an analysis"},
      {"{\"reason\": \"r\", \"method\": \"cut off",
       "the reply holds no JSON object with the fields of an analysis"},
      {"{\"reason\": \"r\", \"bottleneck\": \"b\"}", "the analysis names no optimisation_method"},
      {"{\"worth_optimizing\": true, \"optimisation_method\": \" \"}",
       "the analysis names no optimisation_method"},
      {"{\"worth_optimizing\": false, \"bottleneck\": \"none\"}",
       "the analysis says it is not worth optimising and gives no reason"},
  };
  for (const auto& [reply, message] : kCases) {
    const Result<AnalysisRecord> record = ParseAnalysis(reply);
    ASSERT_FALSE(record.ok()) << reply;
    EXPECT_EQ(record.error().message, message) << reply;
  }
  EXPECT_EQ(AnalysisFromJson(Json(3)).error().message, "the analysis is not a JSON object");
}

TEST(Analysis, HostileRepliesEndSoon) {
  const size_t kSize = 2u << 20;  // quadratic time would be far too long
  std::string pairs;
  while (pairs.size() < kSize) pairs += "{a:";
  for (const std::string& reply :
       {std::string(kSize, '{'), std::string(kSize, '\0'), "{\"reason\": \"" + std::string(kSize, 'x'), pairs,
        "{" + std::string(kSize, '['), "{\"a\": \"\\u12" + std::string("\xFF\xFE")}) {
    const std::clock_t start = std::clock();  // processor time, which other load does not change
    EXPECT_FALSE(ParseAnalysis(reply).ok());
    EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC);
  }
}

Json Facts(const char* verdict = "null") {
  return {{"card",
           {{"modules", {{"GRU", 1}}},
            {"operators", {{"_cudnn_rnn", 1}}},
            {"serial_chain", 3072},
            {"launches", 12000},
            {"floor_us", 120.0}}},
          {"verdict", *ParseJson(verdict)},
          {"generous_step_us", 2}};
}

struct Plan {
  const char* method;
  const char* plan;
  const char* type;
  const char* objection;  // "" if there is none
};

class HoldsAPlanAgainstFacts : public testing::TestWithParam<Plan> {};

TEST_P(HoldsAPlanAgainstFacts, OfALaunchBoundRecurrence) {
  AnalysisRecord record;
  record.optimisation_method = GetParam().method;
  record.modification_plan = GetParam().plan;
  record.kernel_type = GetParam().type;
  const std::optional<std::string> objection = CheckAgainstFacts(record, Facts());
  const std::string expected = GetParam().objection;
  if (expected.empty()) {
    EXPECT_FALSE(objection.has_value()) << *objection;
  } else {
    ASSERT_TRUE(objection.has_value());
    EXPECT_TRUE(Contains(*objection, expected)) << *objection;
    EXPECT_TRUE(Contains(*objection, "12000 launches for 3072 dependent steps")) << *objection;
  }
}

constexpr const char* kHost = "keeps the time loop on the host";
constexpr const char* kSilent = "does not say where the time loop runs";

INSTANTIATE_TEST_SUITE_P(
    Analysis, HoldsAPlanAgainstFacts,
    testing::Values(Plan{"Persistent kernel", "move the Python loop into it", "", ""},
                    Plan{"Move the time loop from the host into the kernel", "", "", ""},
                    Plan{"fuse", "all time-steps in one launch with a grid barrier", "", ""},
                    Plan{"fuse the gates", "one kernel per timestep", "persistent_recurrent", ""},
                    Plan{"layer wavefront over clusters", "", "", ""},
                    Plan{"C++ extension", "write the loop in C++ with OpenMP", "", ""},
                    Plan{"Fused cell", "one kernel per time step", "", kHost},
                    Plan{"Fused cell", "for t in range(T): step[grid](...)", "", kHost},
                    Plan{"CUDA graph", "capture the module", "", kHost},
                    Plan{"Fused cell", "keep the time loop; a kernel with the loop inside is too complex", "",
                         kHost},
                    Plan{"Fused cell", "", "launch_per_step", kHost},
                    Plan{"Fuse the gates", "use larger tiles", "", kSilent}));

TEST(Analysis, TheFieldForTheTimeLoopDecidesBeforeAnyPhrase) {
  struct Row {
    const char* time_loop;
    const char* method;
    const char* objection;
  };
  const Row rows[] = {
      {"inside_kernel", "not a CUDA graph: no launch per time step", ""},
      {"host", "a persistent kernel for each step", kHost},
      {"none", "all steps in one launch, by a scan", "has no loop over time"},
  };
  for (const Row& row : rows) {
    AnalysisRecord record;
    record.optimisation_method = row.method;
    record.time_loop = row.time_loop;
    const std::optional<std::string> objection = CheckAgainstFacts(record, Facts());
    EXPECT_EQ(objection.has_value(), *row.objection != 0) << row.time_loop;
    EXPECT_TRUE(Contains(objection.value_or(""), row.objection)) << *objection;
  }
  // A linear recurrence may be computed as a scan.
  AnalysisRecord scan;
  scan.optimisation_method = "a parallel scan";
  scan.time_loop = "none";
  Json facts = Facts();
  facts["card"]["modules"] = {{"Linear", 1}};
  facts["card"]["operators"] = {{"mm", 512}, {"add", 512}};
  EXPECT_FALSE(CheckAgainstFacts(scan, facts).has_value());
}

TEST(Analysis, APlanForATaskThatIsNotLaunchBoundIsLeftAlone) {
  AnalysisRecord record;
  record.optimisation_method = "fuse the gates";
  Json facts = Facts(R"({"launches": {"candidate": 6}})");
  EXPECT_FALSE(CheckAgainstFacts(record, facts).has_value());
  facts = Facts();
  facts["card"] = {
      {"modules", {{"Linear", 3}}}, {"operators", {{"addmm", 3}}}, {"serial_chain", 500}, {"launches", 500}};
  EXPECT_FALSE(CheckAgainstFacts(record, facts).has_value());
  EXPECT_FALSE(CheckAgainstFacts(record, Json()).has_value());
}

TEST(Analysis, NotWorthItIsDoubtedWhereTheGapIsLarge) {
  AnalysisRecord record;
  record.worth_optimizing = false;
  record.reason = "cuDNN is good";
  const auto objection = [&](const char* verdict) { return CheckAgainstFacts(record, Facts(verdict)); };
  ASSERT_TRUE(
      objection(R"({"verdict":"rejected","speedup":{"candidate_us":90000,"best_us":8460}})").has_value());
  EXPECT_TRUE(
      Contains(*objection(R"({"verdict":"rejected","speedup":{"candidate_us":90000,"best_us":8460}})"),
               "it takes 8460 us where the device's floor is 120 us"));
  EXPECT_TRUE(objection("null").has_value());
  EXPECT_FALSE(
      objection(R"({"verdict":"accepted","speedup":{"candidate_us":870,"best_us":8460}})").has_value());
  // 3,072 steps of at most 2 us, though the floor is 120 us.
  constexpr char kSlowSteps[] = R"({"verdict":"accepted","speedup":{"candidate_us":6000,"best_us":8460}})";
  EXPECT_FALSE(objection(kSlowSteps).has_value());
  Json quicker = Facts(kSlowSteps);
  quicker["generous_step_us"] = 1;
  EXPECT_TRUE(CheckAgainstFacts(record, quicker).has_value()) << "the device's own figure decides";
}

TEST(Knowledge, FollowsTheCard) {
  const std::pair<const char*, std::vector<std::string>> kCases[] = {
      {R"({"modules":{"GRU":1},"operators":{"_cudnn_rnn":1}})", {"triton", "recurrent"}},
      {R"({"modules":{"Linear":2,"Tanh":1},"operators":{"addmm":512,"tanh":256,"cat":256},"serial_chain":768})",
       {"triton", "recurrent"}},
      {R"({"modules":{"Linear":48},"operators":{"addmm":48,"gelu":12},"serial_chain":300})",
       {"triton", "gemm"}},
      {R"({"modules":{"Linear":48},"operators":{"addmm":48,"scaled_dot_product_attention":12},"serial_chain":300})",
       {"triton", "attention"}},
      {R"({"modules":{"Conv2d":20,"Linear":1,"ReLU":9},"operators":{"convolution":20,"addmm":1,"mean":1}})",
       {"triton", "conv", "gemm"}},
      {R"({"modules":{},"operators":{"_softmax":1}})", {"triton", "reduction"}},
      {R"({"modules":{"LayerNorm":1},"operators":{"native_layer_norm":1}})", {"triton", "norm"}},
      {R"({"modules":{},"operators":{"cumsum":1}})", {"triton", "scan"}},
      {R"({"modules":{"Linear":2,"LayerNorm":1},"operators":{"addmm":2,"native_layer_norm":1,"gelu":1}})",
       {"triton", "gemm", "norm"}},
      {R"({"modules":{"Conv2d":2,"LayerNorm":1,"Linear":1},"operators":{"convolution":2,"cumsum":1,"addmm":1,"native_layer_norm":1,"sum":1}})",
       {"triton", "conv", "gemm", "scan"}},
      {R"({"modules":{},"operators":{"relu":1}})", {"triton", "elementwise"}},
  };
  for (const auto& [card, expected] : kCases)
    EXPECT_EQ(KnowledgeFor(*ParseJson(card), "", "triton"), expected) << card;
  EXPECT_EQ(KnowledgeFor(Json(), "self.rnn = nn.LSTM(3, 4)", "cpu"),
            (std::vector<std::string>{"cpu", "recurrent"}));
}

}  // namespace
}  // namespace hone
