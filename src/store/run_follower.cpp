#include "store/run_follower.h"

#include "base/json.h"
#include "store/record_io.h"

namespace hone {

namespace {

constexpr int kMostLines = 500;

// Two versions of a record differ if the fields that a list shows differ.
template <class Record>
std::string Mark(const Record& record) {
  return DumpJson(RecordToJson(record, Extent::kList, Names::kColumns));
}

}  // namespace

RunFollower::RunFollower(RunStore& store, int64_t run_id, int64_t console_id)
    : store_(store), run_id_(run_id), console_id_(console_id) {}

Result<RunNews> RunFollower::Look() {
  RunNews news;
  const int64_t version = store_.DataVersion();
  if (version == data_version_ && version >= 0 && !more_) return news;
  // Reads the console first: a line is written after the rows it mentions, so these rows exist.
  HONE_ASSIGN_OR_RETURN(news.console, store_.Console(run_id_, console_id_, kMostLines));
  HONE_ASSIGN_OR_RETURN(RunRecord run, store_.RunSummary(run_id_));
  HONE_ASSIGN_OR_RETURN(std::vector<CandidateRecord> candidates, store_.CandidateSummaries(run_id_));
  HONE_ASSIGN_OR_RETURN(const UsageTotals usage, store_.Usage(run_id_));
  data_version_ = version;
  more_ = news.console.size() == kMostLines;
  if (!news.console.empty()) console_id_ = news.console.back().first;
  for (CandidateRecord& one : candidates) {
    std::string mark = Mark(one);
    std::string& seen = candidates_seen_[one.key];
    if (seen == mark) continue;
    seen = std::move(mark);
    news.candidates.push_back(std::move(one));
  }
  if (std::string mark = Mark(run); mark != run_seen_) {
    run_seen_ = std::move(mark);
    news.run = std::move(run);
  }
  if (std::string mark = Mark(usage); mark != usage_seen_) {
    HONE_ASSIGN_OR_RETURN(news.calls, store_.CallSummaries(run_id_));
    usage_seen_ = std::move(mark);
    news.usage = usage;
  }
  return news;
}

}  // namespace hone
