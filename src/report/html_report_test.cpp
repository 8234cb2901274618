#include "report/html_report.h"
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/files.h"
#include "base/ids.h"
#include "base/text.h"
#include "report/html_fragments.h"
#include "report/report_fixture.h"
#include "store/record_fields.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

size_t Count(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

void CompareOrUpdate(const std::string& name, const std::string& actual) {
  const fs::path path = fs::path(HONE_SOURCE_DIR) / "tests" / "golden" / "report" / name;
  if (std::getenv("HONE_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomic(path, actual).ok());
    return;
  }
  const Result<std::string> expected = ReadFile(path);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  EXPECT_TRUE(*expected == actual)
      << name << ": run with HONE_UPDATE_GOLDEN=1 if the change is meant, and look at it";
}

TEST(HtmlReport, TheReportOfAFixedRunIsTheGoldenOne) {
  CompareOrUpdate("run.html", RunHtml(FixtureRun()));
  CompareOrUpdate("run.md", RunMarkdown(FixtureRun()));
  CompareOrUpdate("run.csv", RunCsv(FixtureRun().story));
}

TEST(RunCsv, HasEveryFieldOfACandidateAndKnownColumnsInTheirPlaces) {
  const std::string csv = RunCsv(FixtureRun().story);
  const std::vector<std::string> header = Split(csv.substr(0, csv.find('\n')), ',');
  EXPECT_EQ(Join(header, ",")
                .find("run,task,candidate,parent,phase,proposer,verdict,reason,kind,kernel_class,"
                      "vs_best,ci_low,ci_high,vs_eager,candidate_us,predicted_us,error,error_limit,"
                      "seconds,best,created,sha256,title,detail,result,degenerate"),
            0U);
  size_t told = 0;
  for (const Field<CandidateRecord>& field : FieldsOf<CandidateRecord>())
    told += field.name != nullptr && !field.Is(kLong | kLocal) ? 1 : 0;
  EXPECT_EQ(header.size(), told + 5) << "the run's own: run, task, best, result, degenerate";
  EXPECT_THAT(header, testing::Contains("other_parent"));
}

TEST(HtmlReport, NothingIsLoadedAndNoScriptCouldRun) {
  const std::string html = RunHtml(FixtureRun());
  EXPECT_THAT(html, HasSubstr("default-src 'none'; style-src 'sha256-"));
  EXPECT_EQ(Count(html, "<script"), 0u);
  EXPECT_EQ(Count(html, "javascript:"), 0u);
  EXPECT_EQ(Count(html, "style=\""), 0u);
  for (const char* word : {" src=", "url(", "@import", "<link", "<iframe", "<form", "<base"})
    EXPECT_EQ(Count(html, word), 0u) << word;
  // All links lead into the page itself.
  EXPECT_EQ(Count(html, "href=\""), Count(html, "href=\"#"));
}

TEST(HtmlReport, WhatStrangersWroteIsShownAndDoesNothing) {
  const std::string html = RunHtml(FixtureRun());
  EXPECT_THAT(html, Not(HasSubstr("<script>")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(&#39;1&#39;)"));
  EXPECT_THAT(html, Not(HasSubstr("\" onload=")));
  EXPECT_EQ(html.find('\0'), std::string::npos);
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  EXPECT_EQ(ValidUtf8(html), html);
}

TEST(HtmlReport, EveryIdIsUniqueAndEveryLinkHasATarget) {
  const std::string html = RunHtml(FixtureRun());
  std::set<std::string> ids;
  for (size_t at = html.find(" id=\""); at != std::string::npos; at = html.find(" id=\"", at + 1)) {
    const std::string id = html.substr(at + 5, html.find('"', at + 5) - at - 5);
    EXPECT_TRUE(ids.insert(id).second) << id;
  }
  for (size_t at = html.find("href=\"#"); at != std::string::npos; at = html.find("href=\"#", at + 1)) {
    const std::string target = html.substr(at + 7, html.find('"', at + 7) - at - 7);
    EXPECT_EQ(ids.count(target), 1u) << target;
  }
}

TEST(HtmlReport, ThePolicyNamesTheStyleByItsHash) {
  // echo -n 'body{}' | openssl dgst -sha256 -binary | base64
  EXPECT_THAT(ContentPolicy("body{}"), HasSubstr("'sha256-fJgEClQWV1hGkK4qHMO0KotTsVnMYMXTq7/suurGyUo='"));
  const std::string html = RunHtml(FixtureRun());
  const size_t start = html.find("<style>") + 7;
  const std::string style = html.substr(start, html.find("</style>") - start);
  EXPECT_THAT(html, HasSubstr(ContentPolicy(style)));
}

TEST(HtmlReport, LineageHangsChildrenUnderTheirParents) {
  const std::string tree = LineageTree(FixtureRun().story, LinksInside());
  const size_t parent = tree.find("#c-seed0\"");
  const size_t child = tree.find("#c-seed0-2erepair1\"");
  ASSERT_NE(parent, std::string::npos);
  EXPECT_LT(parent, child);
  EXPECT_THAT(tree.substr(parent, child - parent), HasSubstr("<ul>"));
}

TEST(HtmlReport, ACircleInTheLineageEnds) {
  RunStory story;
  story.candidates = {FixtureCandidate("a", "b", "seed", "accepted", "faster", 2),
                      FixtureCandidate("b", "a", "seed", "accepted", "faster", 2)};
  const std::string tree = LineageTree(story, LinksInside());
  EXPECT_EQ(Count(tree, "#c-a\""), 1u);
  EXPECT_EQ(Count(tree, "#c-b\""), 1u);
}

TEST(HtmlReport, FindingsStandBesideTheirLine) {
  const std::string html = SourceWithFindings(
      "a\nb < c\n",
      Json{{{"rule", "host-loop"}, {"severity", "error"}, {"line", 2}, {"message", "one <launch> per step"}},
           {{"rule", "whole-file"}, {"severity", "note"}, {"line", 99}, {"message", "no line"}}},
      "s");
  EXPECT_THAT(html,
              HasSubstr("<div class=\"row noted error\" id=\"s-L2\"><span class=\"ln\">2</span><code>b &lt; c"
                        "</code><div class=\"margin\"><p><b>host-loop</b> one &lt;launch&gt; per step</p>"));
  EXPECT_THAT(html, HasSubstr("no line"));
}

TEST(HtmlReport, DiffsShowBothLineNumbers) {
  const std::string html = DiffView("a\nb\n", "a\nc\n");
  EXPECT_THAT(html,
              HasSubstr("<div class=\"row del\"><span class=\"ln\">2</span><span class=\"ln\"></span>"));
  EXPECT_THAT(html,
              HasSubstr("<div class=\"row add\"><span class=\"ln\"></span><span class=\"ln\">2</span>"));
  EXPECT_THAT(DiffView("a\n", "a\n"), HasSubstr("the same"));
}

TEST(HtmlReport, ARunThatJustBeganHasAPageToo) {
  RunData data;
  data.story.run.id = 1;
  data.story.run.task = "t";
  data.story.run.status = "running";
  const std::string html = RunHtml(data);
  EXPECT_THAT(html, HasSubstr("Status: running."));
  EXPECT_THAT(html, HasSubstr("none yet"));
}

TEST(HtmlReport, ASuiteLinksEveryTaskWithItsOwnSection) {
  SuiteData data;
  data.summary.suite.name = "night <1>";
  for (int i = 1; i <= 2; ++i) {
    RunData run = FixtureRun();
    run.story.run.id = i;
    SuiteRow row;
    row.run = run.story.run;
    row.right = true;
    data.summary.rows.push_back(row);
    data.runs.push_back(run);
  }
  data.summary.counted = 2;
  data.summary.geomean_vs_best = 4;
  data.summary.geomean_vs_eager = 5;
  data.summary.fast_1 = 1;
  EXPECT_THAT(SuiteHtml(data), testing::Not(HasSubstr("degenerate")));
  data.summary.rows[1].run.degenerate = data.runs[1].story.run.degenerate = "the output <is> constant";
  data.summary.degenerate = 1;
  data.summary.geomean_vs_best_without_degenerate = 3;
  data.summary.geomean_vs_eager_without_degenerate = 3.5;
  const std::string html = SuiteHtml(data);
  EXPECT_THAT(html, HasSubstr("<h1>night &lt;1&gt;</h1>"));
  EXPECT_THAT(html, HasSubstr("href=\"#run-2\""));
  EXPECT_THAT(html, HasSubstr("id=\"run-2\""));
  EXPECT_THAT(html, HasSubstr("[3.60, 4.40]"));
  std::set<std::string> ids;
  for (size_t at = html.find(" id=\""); at != std::string::npos; at = html.find(" id=\"", at + 1))
    EXPECT_TRUE(ids.insert(html.substr(at + 5, html.find('"', at + 5) - at - 5)).second);
  EXPECT_THAT(html, HasSubstr("without degenerate tasks"));
  EXPECT_THAT(html, HasSubstr("1 degenerate task"));
  EXPECT_THAT(SuiteMarkdown(data), HasSubstr("without it 3.00x the best PyTorch baseline"));
  EXPECT_THAT(RunHtml(data.runs[1]), HasSubstr("Degenerate task: the output &lt;is&gt; constant."));
  EXPECT_THAT(RunMarkdown(data.runs[1]), HasSubstr("**Degenerate task**: the output &lt;is&gt; constant."));
  EXPECT_THAT(RunCsv(data.runs[1].story), HasSubstr("the output <is> constant,\n"));
  EXPECT_THAT(SuiteMarkdown(data), HasSubstr("| geometric mean | 4.00\u00d7 |"));
}

}  // namespace
}  // namespace hone
