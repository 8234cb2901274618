#include "pipeline/kept_verdict.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "store/record_io.h"

namespace hone {
namespace {

std::string Row(const Verdict& verdict) {
  CandidateRecord candidate;
  KeepVerdict(verdict, &candidate);
  return DumpJson(RecordToJson(candidate, Extent::kWhole), 1);
}

TEST(KeptVerdict, IsTheSameInTheRowAndInWhatBenchPrints) {
  Verdict verdict;
  verdict.verdict = "accepted";
  verdict.reason = "faster";
  verdict.detail = "2.00x faster";
  verdict.kind = "kernel";
  verdict.vs_best = {2, 1.9, 2.1};
  verdict.vs_eager = {3, 2.9, 3.1};
  verdict.candidate_us = 50;
  verdict.error = 1e-7;
  verdict.error_limit = 1e-6;
  CandidateRecord candidate;
  KeepVerdict(verdict, &candidate);
  EXPECT_EQ(candidate.vs_best, 2);
  EXPECT_EQ(candidate.ci_low, 1.9);
  EXPECT_EQ(candidate.ci_high, 2.1);
  EXPECT_EQ(candidate.vs_eager, 3);
  EXPECT_EQ(candidate.error_limit, 1e-6);
  EXPECT_EQ(Row(VerdictOf(candidate)), Row(verdict));
  EXPECT_EQ(Row(VerdictFromJson(Json(ToJson(verdict)))), Row(verdict));
}

TEST(KeptVerdict, IsReadFromAnyJson) {
  for (const char* text : {"null", "[]", R"({"speedup": null, "error": 1})", R"({"speedup": {"ci95": [1]}})",
                           R"({"verdict": 3, "speedup": {"vs_best": "fast", "ci95": ["a", "b"]}})"}) {
    const Verdict verdict = VerdictFromJson(*ParseJson(text));
    EXPECT_EQ(verdict.verdict, "") << text;
    EXPECT_EQ(verdict.vs_best.estimate, 0) << text;
    EXPECT_EQ(verdict.vs_best.high, 0) << text;
  }
}

}  // namespace
}  // namespace hone
