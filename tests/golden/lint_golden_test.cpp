// Golden cases of `hone lint`. Every rule has tests/golden/lint/<rule>.py, with `expect: RULE` on the
// offending lines, and a similar case without findings. The full report (with messages and fixes) is in
// <rule>.txt, and the file repaired by --fix in <rule>.fixed.txt if there is one. HONE_UPDATE_GOLDEN=1 writes
// these two. tests/golden/corpus holds a larger labelled collection, for which rates are checked.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "analysis/check.h"
#include "analysis/lint.h"
#include "analysis/mend.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"

namespace hone {
namespace {

const fs::path kGolden = fs::path(HONE_SOURCE_DIR) / "tests/golden";

std::string Read(const fs::path& path) {
  Result<std::string> text = ReadFile(path);
  EXPECT_TRUE(text.ok()) << path;
  return text.ok() ? *text : "";
}

void CompareOrUpdate(const fs::path& path, const std::string& actual) {
  if (std::getenv("HONE_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomic(path, actual).ok());
    return;
  }
  EXPECT_EQ(Read(path), actual) << "run with HONE_UPDATE_GOLDEN=1 if the change is meant";
}

std::string FileName(std::string_view rule) {
  return ReplaceAll(std::string(rule), "-", "_");
}

std::set<std::pair<uint32_t, std::string>> Marks(const std::string& text) {
  std::set<std::pair<uint32_t, std::string>> out;
  uint32_t line = 0;
  for (const std::string& row : Lines(text)) {
    ++line;
    const size_t at = row.find("expect: ");
    if (at == std::string::npos) continue;
    for (const std::string& rule : Split(row.substr(at + 8), ',')) out.emplace(line, std::string(Trim(rule)));
  }
  return out;
}

LintOptions OptionsFor(std::string_view rule) {
  LintOptions options;
  if (rule == "weights-not-transferable") options.task_text = Read(kGolden / "lint/task.txt");
  return options;
}

class GoldenRule : public testing::TestWithParam<std::string> {};

TEST_P(GoldenRule, SaysWhatIsWrongWhereItIsWrong) {
  const std::string rule = GetParam();
  const std::string text = Read(kGolden / "lint" / (FileName(rule) + ".py"));
  const LintReport report = LintSource("case.py", text, OptionsFor(rule));
  std::set<std::pair<uint32_t, std::string>> found;
  for (const Finding& finding : report.findings) found.emplace(finding.line, finding.rule);
  EXPECT_EQ(Marks(text), found);
  for (const Finding& finding : report.findings) EXPECT_FALSE(finding.fix.empty()) << finding.message;
  CompareOrUpdate(kGolden / "lint" / (FileName(rule) + ".txt"), ToText(report, text, false));
  int applied = 0;
  const std::string fixed = ApplyEdits(text, report.findings, &applied);
  if (applied == 0) return;
  CompareOrUpdate(kGolden / "lint" / (FileName(rule) + ".fixed.txt"), fixed);
  EXPECT_LT(LintSource("case.py", fixed, OptionsFor(rule)).findings.size(), report.findings.size());
}

TEST_P(GoldenRule, IsSilentOnTheCleanTwin) {
  const std::string rule = GetParam();
  const std::string text = Read(kGolden / "lint" / (FileName(rule) + ".clean.py"));
  const LintReport report = LintSource("case.py", text, OptionsFor(rule));
  for (const Finding& finding : report.findings) {
    EXPECT_NE(finding.rule, rule) << finding.message;
    EXPECT_NE(finding.severity, Severity::kError) << finding.rule << ": " << finding.message;
  }
}

TEST_P(GoldenRule, HasAPageThatExplainsIt) {
  const std::string_view page = ExplainCheck(GetParam());
  EXPECT_TRUE(StartsWith(page, "# " + GetParam() + "\n")) << "checks/" << FileName(GetParam()) << ".md";
  EXPECT_GT(page.size(), 200u);
}

std::vector<std::string> Rules() {
  std::vector<std::string> out;
  for (const CheckInfo& check : AllChecks()) out.emplace_back(check.rule);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Lint, GoldenRule, testing::ValuesIn(Rules()),
                         [](const auto& info) { return ReplaceAll(info.param, "-", "_"); });

TEST(GoldenCorpus, MostFailuresAreNamedAndNothingThatRunsIsAccused) {
  Result<Json> labels = ParseJson(Read(kGolden / "corpus/labels.json"));
  ASSERT_TRUE(labels.ok());
  LintOptions options;
  options.triton_versions = TritonVersionMask("3.6");  // the release that was used for the labels
  options.device = FindDevice("h200");
  int failures = 0;
  int named = 0;
  int clean = 0;
  int classes = 0;
  int classes_right = 0;
  for (const auto& [name, label] : labels->items()) {
    const LintReport report = LintSource(name, Read(kGolden / "corpus/files" / name), options);
    std::set<std::string> errors;
    for (const Finding& finding : report.findings)
      if (finding.severity == Severity::kError) errors.insert(finding.rule);
    const Json& expected = GetMember(label, "expect_errors");
    if (!expected.empty()) {
      ++failures;
      bool hit = false;
      for (const Json& rule : expected) hit = hit || errors.count(rule.get<std::string>()) != 0;
      named += hit ? 1 : 0;
    } else {
      ++clean;
      EXPECT_TRUE(errors.empty()) << name << ": " << *errors.begin();
    }
    const std::string kernel_class = GetString(label, "kernel_class");
    if (kernel_class.empty()) continue;
    ++classes;
    classes_right += kernel_class == KernelClassName(report.kernel_class) ? 1 : 0;
  }
  RecordProperty("failures", failures);
  RecordProperty("named", named);
  fmt::print("{} of {} failures named, {} clean candidates, {} of {} classes right\n", named, failures, clean,
             classes_right, classes);
  EXPECT_GE(named, failures * 95 / 100);
  EXPECT_GE(classes_right, classes * 95 / 100);
}

// bench/lint_fix.py measures which of the fixed files compile. A file that runs is changed only for a warning
// that its label expects, such as a missing mask.
TEST(GoldenCorpus, MendingTouchesNothingThatIsRightAndIsDoneAfterOnce) {
  Result<Json> labels = ParseJson(Read(kGolden / "corpus/labels.json"));
  ASSERT_TRUE(labels.ok());
  int without_errors = 0;
  for (const auto& [name, label] : labels->items()) {
    const std::string text = Read(kGolden / "corpus/files" / name);
    const MendedSource mended = MendSource(name, text);
    if (GetString(label, "kind") == "clean") {
      std::set<std::string> deserved;
      for (const Json& rule : GetMember(label, "expect_warnings")) deserved.insert(rule.get<std::string>());
      for (const AppliedFix& fix : mended.fixes)
        EXPECT_TRUE(deserved.count(fix.rule) != 0) << name << ": " << fix.rule;
    }
    EXPECT_EQ(mended.changed(), mended.text != text) << name;
    EXPECT_EQ(MendSource(name, mended.text).text, mended.text) << name;
    without_errors += mended.changed() && !mended.report.has_errors() ? 1 : 0;
  }
  fmt::print("{} failing files without an error after mending\n", without_errors);
  EXPECT_GE(without_errors, 165);
}

}  // namespace
}  // namespace hone
