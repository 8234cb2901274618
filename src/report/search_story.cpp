#include "report/search_story.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "model/replies.h"
#include "pipeline/population.h"
#include "report/record_facts.h"

namespace hone {

namespace {

template <class Cost>
void AddCost(const CallRecord& call, Cost* cost) {
  ++cost->calls;
  cost->tokens += call.total();
  cost->usd += call.cost_usd;
}

// The best speed-up when step `step` began, as the search counts it; 0 if there was none.
double BestBefore(const RunStory& story, int step) {
  double best = 0;
  for (const CandidateRecord& one : story.candidates)
    if (one.phase != "zero" && one.verdict != NameOf(Decision::kInconclusive) && StepOf(one.key) < step)
      best = std::max(best, SureSpeed(one));
  return best;
}

// Counts a step by its candidates and calls. A step that the run's end cut off thus counts with its cost, and
// a chosen step that never began does not count.
void AddStep(const RunStory& story, int step, OperatorUse* use) {
  bool begun = false;
  bool right = false;
  for (const CallRecord& call : story.calls) {
    if (StepOf(call.key) != step) continue;
    AddCost(call, use);
    begun = true;
  }
  for (const CandidateRecord& one : story.candidates) {
    if (StepOf(one.key) != step) continue;
    begun = true;
    right = right || one.right();
  }
  for (const DecisionRecord& one : story.decisions)
    begun = begun || (StepOf(one.key) == step && EndsWith(one.key, ".end"));
  if (!begun) return;
  ++use->steps;
  use->right += right ? 1 : 0;
  const double before = BestBefore(story, step);
  const double after = BestBefore(story, step + 1);
  if (after <= before) return;
  ++use->paid;
  // The first right candidate is compared with PyTorch.
  use->factor *= before > 0 ? after / before : after;
}

}  // namespace

std::vector<std::string> CallsThatMade(const CandidateRecord& candidate) {
  std::vector<std::string> keys = {CallKeyOf(candidate.key), candidate.key + ".again"};
  if (candidate.phase == "algorithm")
    for (const char* end : {".analysis", ".analysis.again"}) keys.push_back(candidate.parent_key + end);
  return keys;
}

std::vector<OperatorUse> OperatorsOf(const RunStory& story) {
  std::vector<OperatorUse> uses;
  for (const Operator op : kOperators) {
    OperatorUse use;
    use.op = NameOf(op);
    for (const DecisionRecord& one : story.decisions) {
      const int step = StepOf(one.key);
      const bool chosen = step > 0 && one.key.find('.') == std::string::npos;
      if (chosen && GetString(ParsedOrNull(one.json), "operator") == use.op) AddStep(story, step, &use);
    }
    if (use.steps > 0) uses.push_back(use);
  }
  if (uses.empty()) return uses;
  OperatorUse opening;
  opening.op = "opening";
  for (const CandidateRecord& one : story.candidates) {
    if (StepOf(one.key) > 0 || one.phase == "zero" || !one.judged()) continue;
    ++opening.steps;
    opening.right += one.right() ? 1 : 0;
  }
  const double reached = BestBefore(story, 1);
  if (reached > 0) opening.factor = reached;
  for (const CallRecord& call : story.calls)
    if (StepOf(call.key) == 0) AddCost(call, &opening);
  uses.insert(uses.begin(), opening);
  return uses;
}

std::vector<Ancestor> AncestorsOf(const RunStory& story, const std::string& key) {
  std::set<std::string> wanted = {key};
  for (size_t known = 0; known != wanted.size();) {
    known = wanted.size();
    for (const CandidateRecord& one : story.candidates) {
      if (wanted.count(one.key) == 0) continue;
      for (const std::string& parent : {one.parent_key, one.other_parent_key})
        if (!parent.empty()) wanted.insert(parent);
    }
  }
  std::vector<Ancestor> ancestors;
  for (const CandidateRecord& one : story.candidates) {
    if (key.empty() || wanted.count(one.key) == 0) continue;
    Ancestor ancestor;
    ancestor.key = one.key;
    ancestor.phase = one.phase;
    for (const std::string& parent : {one.parent_key, one.other_parent_key})
      if (!parent.empty()) ancestor.parents.push_back(parent);
    ancestor.title = one.title;
    ancestor.vs_best = one.vs_best;
    ancestor.reason = one.right() ? "" : one.reason;
    const std::vector<std::string> made = CallsThatMade(one);
    for (const CallRecord& call : story.calls)
      if (std::find(made.begin(), made.end(), call.key) != made.end()) AddCost(call, &ancestor);
    ancestors.push_back(ancestor);
  }
  return ancestors;
}

}  // namespace hone
