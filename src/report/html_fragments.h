// The HTML parts that reports and the dashboard share: a run's head, candidates, lineage and decisions; one
// candidate's verdict, plots, source with findings, diffs and provenance. They are pure functions without
// I/O. Text from models and candidates is escaped.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/html_page.h"
#include "report/run_figures.h"
#include "report/run_report.h"

namespace hone {

// Targets of links: anchors in the page for a file, other pages for a server. An empty href makes no link.
struct PageLinks {
  std::function<std::string(const std::string& key)> candidate;
};
// "#c-seed0", the id that CandidateDetails uses.
PageLinks LinksInside();
std::string CandidateAnchor(const std::string& key);

// Eyebrow, task, outcome and key figures.
std::string RunHead(const RunStory& story, const RunFigures& figures);
// Proposer, device, times, cost, folder.
std::string RunFacts(const RunStory& story);
std::string CandidateTable(const RunStory& story, const PageLinks& links);
std::string LineageTree(const RunStory& story, const PageLinks& links);
std::string DecisionTable(const RunStory& story);
// The task's card (operators, bytes, floor) and the wrong computations that its tests cannot detect.
std::string TaskFacts(const RunStory& story);

// Null if there is no candidate with this key.
const CandidateRecord* FindCandidate(const RunStory& story, const std::string& key);

// The parts of a candidate. `record` is the JSON of its verdict.
std::string GateList(const Json& record);
std::string VerdictFacts(const CandidateRecord& candidate, const Json& record);
std::string ProvenanceFacts(const Json& record);
// Highlighted lines with numbers and their findings. `prefix` makes the lines' ids unique in a page.
std::string SourceWithFindings(const std::string& source, const Json& findings, const std::string& prefix);
std::string DiffView(const std::string& before, const std::string& after);

// The whole candidate: verdict, reason, gates, plots, source, diffs to `parent` and `best` (null: none),
// provenance.
std::string CandidateBody(const CandidateRecord& candidate, const CandidateRecord* parent,
                          const CandidateRecord* best);
// The same inside <details>.
std::string CandidateDetails(const CandidateRecord& candidate, const CandidateRecord* parent,
                             const CandidateRecord* best, bool open);

}  // namespace hone
