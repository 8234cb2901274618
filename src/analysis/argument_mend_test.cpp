// Tests the findings about arguments of triton.language and their repair: a call as written, what lint says
// of it, and the call that the repaired file has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/mend.h"
#include "analysis/triton_signatures.h"
#include "analysis/triton_tables.h"
#include "base/text.h"

namespace hone {
namespace {

using testing::HasSubstr;

struct ArgumentCase {
  const char* name;
  const char* body;     // sets r from the block v, under the mask m
  const char* message;  // "" where nothing is wrong
  const char* after;    // what the repaired file has; "" if the file must not change
  const char* size = "B: tl.constexpr";
};

std::string ArgumentFile(const ArgumentCase& one) {
  return std::string("import torch\nimport triton\nimport triton.language as tl\n") +
         "from triton.language.extra import libdevice\n\n\n@triton.jit\ndef k(x, y, n, " + one.size +
         "):\n    i = tl.program_id(0) * 64 + tl.arange(0, 64)\n    m = i < n\n"
         "    v = tl.load(x + i, mask=m, other=0.0)\n    " +
         one.body +
         "\n    tl.store(y + i, r, mask=m)\n\n\nclass ModelNew(torch.nn.Module):\n"
         "    def forward(self, x):\n        y = torch.empty_like(x)\n"
         "        k[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), B=64)\n        return y\n";
}

class ArgumentFix : public testing::TestWithParam<ArgumentCase> {};

TEST_P(ArgumentFix, IsNamedAndMendedWhereOneAnswerIsRight) {
  const ArgumentCase& one = GetParam();
  const std::string before = ArgumentFile(one);
  const LintReport report = LintSource("case.py", before);
  const std::string said = ToText(report, before, false);
  if (std::string(one.message).empty())
    EXPECT_FALSE(report.has_errors()) << said;
  else
    EXPECT_THAT(said, HasSubstr(std::string("error: ") + one.message));
  const MendedSource mended = MendSource("case.py", before);
  if (std::string(one.after).empty()) {
    EXPECT_EQ(mended.text, before);
    return;
  }
  EXPECT_THAT(before, testing::Not(HasSubstr(one.after)));
  EXPECT_THAT(mended.text, HasSubstr(one.after));
  EXPECT_FALSE(mended.report.has_errors()) << ToText(mended.report, mended.text, false);
  EXPECT_EQ(MendSource("case.py", mended.text).text, mended.text);
  EXPECT_EQ(MendSource("case.py", ReplaceAll(before, "\n", "\r\n")).text,
            ReplaceAll(mended.text, "\n", "\r\n"));
}

constexpr ArgumentCase kArgumentCases[] = {
    {"misspelt_mask_of_a_load", "r = tl.load(x + i, msk=m, other=0.0)", "tl.load has no argument msk",
     "r = tl.load(x + i, mask=m, other=0.0)"},
    {"misspelt_mask_of_a_store", "r = v\n    tl.store(y + i, v, masks=m)", "tl.store has no argument masks",
     "tl.store(y + i, v, mask=m)"},
    {"swapped_letters", "r = tl.load(x + i, maks=m, other=0.0)", "tl.load has no argument maks",
     "r = tl.load(x + i, mask=m, other=0.0)"},
    {"number_under_the_name_of_a_mask", "r = tl.load(x + i, maks=0.0)", "tl.load has no argument maks", ""},
    {"two_keywords_at_once", "r = tl.load(x + i, msk=m, fill=0.0)", "tl.load has no argument msk",
     "r = tl.load(x + i, mask=m, other=0.0)"},
    {"fallback_called_fill", "r = tl.load(x + i, mask=m, fill=0.0)", "tl.load has no argument fill",
     "r = tl.load(x + i, mask=m, other=0.0)"},
    {"fallback_given_already", "r = tl.load(x + i, mask=m, other=0.0, fill=1.0)",
     "tl.load has no argument fill", ""},
    {"mask_and_something_like_it", "r = tl.load(x + i, mask=m, masks=m)", "tl.load has no argument masks",
     ""},
    {"unknown_beside_misspelt", "r = tl.load(x + i, msk=m, bogus=1)", "tl.load has no argument msk", ""},
    {"keyword_without_meaning", "r = tl.exp(v, dtype=tl.float32)", "tl.exp has no argument dtype", ""},
    {"fallback_of_a_store", "r = v\n    tl.store(y + i, v, mask=m, other=0.0)",
     "tl.store has no argument other", "tl.store(y + i, v, mask=m)\n"},
    {"axis_of_a_method", "r = v + v.sum(dim=0, keepdim=True)", "tl.sum has no argument dim",
     "v.sum(axis=0, keep_dims=True)"},
    {"type_of_a_range", "r = v + tl.arange(0, 64, dtype=tl.float32)", "tl.arange has no argument dtype",
     "tl.arange(0, 64).to(tl.float32)"},
    {"type_that_a_range_has", "r = v + tl.arange(0, 64, dtype=tl.int32)", "tl.arange has no argument dtype",
     "v + tl.arange(0, 64)\n"},
    {"shape_by_keyword", "r = tl.reshape(v, shape=(64,))", "tl.reshape has no argument shape",
     "tl.reshape(v, (64,))"},
    {"message_by_keyword", "tl.static_assert(B > 1, msg=\"no\")\n    r = v",
     "tl.static_assert has no argument msg", "tl.static_assert(B > 1, \"no\")"},
    {"loop_option", "r = v\n    for j in tl.range(0, 4, num_stage=2):\n        r += 1.0",
     "tl.range has no argument num_stage", "tl.range(0, 4, num_stages=2)"},
    {"given_twice_alike", "r = tl.load(x + i, m, mask=m)",
     "tl.load gets its argument mask by position and by keyword", "tl.load(x + i, m)"},
    {"given_twice_differently", "r = tl.load(x + i, m, mask=i < 3)",
     "tl.load gets its argument mask by position and by keyword", ""},
    {"missing_value", "r = v\n    tl.store(y + i, mask=m)", "tl.store is called without its argument value",
     ""},
    {"missing_branch", "r = tl.where(m, v)", "tl.where is called without its argument y", ""},
    {"too_many", "r = tl.exp(v, 2)", "tl.exp takes at most 1 arguments and gets 2", ""},
    {"too_many_for_libdevice", "r = libdevice.tanh(v, v)", "tl.tanh takes at most 1 arguments", ""},
    {"spread_arguments", "r = tl.where(*(m, v, 0.0))", "", ""},
    {"print_takes_anything", "tl.static_print(\"a\", B, sep=\"\")\n    r = v", "", ""},
    {"bare_extents_of_a_view", "r = tl.reshape(tl.reshape(v, 8, 8), 64)", "", ""},
    {"number_as_shape", "r = v + tl.zeros(B, dtype=tl.float32)", "tl.zeros gets the number 64 as its shape",
     "tl.zeros((B,), dtype=tl.float32)"},
    {"parenthesised_number_as_shape", "r = v + tl.full((B), 1.0, tl.float32)",
     "tl.full gets the number 64 as its shape", "tl.full((B,), 1.0, tl.float32)"},
    {"number_as_shape_by_keyword", "r = v + tl.full(shape=(B), value=1.0, dtype=tl.float32)",
     "tl.full gets the number 64 as its shape", "tl.full(shape=(B,), value=1.0, dtype=tl.float32)"},
    {"shape_in_pieces", "r = v + tl.sum(tl.zeros(64, B, dtype=tl.float32), axis=1)",
     "tl.zeros gets its argument dtype by position and by keyword", "tl.zeros((64, B), dtype=tl.float32)"},
    {"shape_in_pieces_before_a_type", "r = v + tl.sum(tl.full(64, B, 0.0, tl.float32), axis=1)",
     "tl.full takes at most 3 arguments and gets 4", "tl.full((64, B), 0.0, tl.float32)"},
    // The block size is no constexpr either: each fix alone would leave an error.
    {"run_time_number_as_shape", "r = v + tl.zeros(B, dtype=tl.float32)",
     "tl.zeros gets the number B as its shape", "tl.zeros((B,), dtype=tl.float32)", "B"},
    {"run_time_number_as_extent_and_shape",
     "r = v + tl.zeros(B, dtype=tl.float32) + tl.load(x + tl.arange(0, B))",
     "tl.arange needs compile-time numbers, but B is", "n, B: tl.constexpr):", "B"},
    {"shape_type_and_size", "r = v + tl.zeros(B)", "tl.zeros gets the number B as its shape",
     "tl.zeros((B,), dtype=tl.float32)", "B"},
};

INSTANTIATE_TEST_SUITE_P(Mend, ArgumentFix, testing::ValuesIn(kArgumentCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(TritonSignatures, BindLikePython) {
  const std::vector<CallSignature> load = SignaturesOf("triton.language", "load");
  ASSERT_EQ(load.size(), 1u);
  const auto bind = [&](size_t positional, std::vector<std::string_view> keywords) {
    return BindCall(load[0], {positional, std::move(keywords), false});
  };
  EXPECT_FALSE(bind(1, {"mask", "other"}));
  EXPECT_FALSE(bind(8, {}));
  EXPECT_FALSE(bind(0, {"pointer"}));
  EXPECT_EQ(bind(9, {}).kind, CallFault::Kind::kTooMany);
  EXPECT_EQ(bind(2, {"mask"}).kind, CallFault::Kind::kGivenTwice);
  EXPECT_EQ(bind(0, {"mask"}).kind, CallFault::Kind::kMissing);
  EXPECT_EQ(bind(1, {"masks"}).kind, CallFault::Kind::kUnknownKeyword);
  EXPECT_FALSE(BindCall(load[0], {1, {"masks"}, true})) << "*args may hide what is there";
}

TEST(TritonSignatures, DifferByRelease) {
  const ArgumentCase one = {"", "r = v + tl.sum(v, axis=0, dtype=tl.float32)", "", ""};
  LintOptions options;
  options.triton_versions = TritonVersionMask("3.2");
  EXPECT_TRUE(LintSource("case.py", ArgumentFile(one), options).has_errors());
  options.triton_versions = TritonVersionMask("3.3");
  EXPECT_FALSE(LintSource("case.py", ArgumentFile(one), options).has_errors());
  EXPECT_TRUE(SignaturesOf("triton.language", "no_such_function").empty());
}

TEST(TritonSignatures, AreThereForEveryFunctionOfTheLanguage) {
  // Types, constants, submodules and what makes kernels are no functions.
  for (const char* name :
       {"load", "store", "sum", "dot", "zeros", "range", "atomic_add", "make_block_ptr", "where"})
    EXPECT_EQ(TritonReleasesWith("triton.language", name), [&] {
      uint32_t releases = 0;
      for (const CallSignature& one : SignaturesOf("triton.language", name)) releases |= one.releases;
      return releases;
    }()) << name;
}

TEST(Mend, TakesNoMaskUnderAnotherNameForAMissingOne) {
  const ArgumentCase one = {"", "r = v\n    tl.store(y + i, v, bogus=m)", "", ""};
  const MendedSource mended = MendSource("case.py", ArgumentFile(one));
  EXPECT_EQ(mended.text, ArgumentFile(one));
  ASSERT_EQ(mended.report.findings.size(), 1u) << ToText(mended.report, mended.text, false);
  EXPECT_EQ(mended.report.findings[0].rule, "bad-call-arguments");
}

}  // namespace
}  // namespace hone
