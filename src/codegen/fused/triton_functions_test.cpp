#include "codegen/fused/triton_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

#include "base/text.h"
#include "codegen/candidate_text.h"
#include "codegen/fused/emit_triton.h"

namespace hone::fused {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TritonFunctions, AreThoseThatKernelsCallAndWhatTheyCall) {
  const Result<std::string> text = TritonFunctions("t1 = _mish(t0)\na0, a1 = _argmax_start(8, 16)\n");
  ASSERT_TRUE(text.ok()) << text.error().message;
  for (const char* name : {"def _mish(", "def _exp(", "def _div(", "def _argmax_start(", "_NOWHERE = "})
    EXPECT_THAT(*text, HasSubstr(name));
  for (const char* name : {"def _relu(", "def _argmax_fold(", "def _sum_start("})
    EXPECT_THAT(*text, Not(HasSubstr(name)));
}

// The functions that maps and reductions in items may use; see docs/ADDING.md.
TEST(TritonFunctions, CoverEveryFunctionOfTheOtherLanguages) {
  std::vector<std::string> lines = Lines(*TemplateText("part_fused_maps.cu"));
  for (const std::string& line : Lines(*TemplateText("part_fused.cu"))) lines.push_back(line);
  int functions = 0, reductions = 0;
  for (const std::string& line : lines)
    for (const char* before : {"HONE_FN C ", "HONE_MATH(", "HONE_FN float ", "template <class C> struct "}) {
      const size_t at = line.find(before);
      if (at == std::string::npos || StartsWith(line, "#") || StartsWith(line, " ")) continue;
      const size_t first = at + std::string(before).size();
      const std::string name = line.substr(first, line.find_first_of("(, {", first) - first);
      if (name.empty() || std::isupper(static_cast<unsigned char>(name[0])) == 0 || name == "Select")
        continue;
      if (StartsWith(name, "Reduce")) {
        EXPECT_STRNE(TritonReductionOf(name).kind, "") << name;
        ++reductions;
      } else if (line[at] == 'H') {
        EXPECT_TRUE(HasTritonFunction(TritonFunctionName(name))) << name;
        ++functions;
      }
    }
  EXPECT_GT(functions, 30);
  EXPECT_GT(reductions, 8);
}

TEST(TritonFunctions, SayWhatNobodyWrote) {
  const Result<std::string> text = TritonFunctions("t1 = _unheard_of(t0)\n");
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.error().message, HasSubstr("_unheard_of"));
}

}  // namespace
}  // namespace hone::fused
