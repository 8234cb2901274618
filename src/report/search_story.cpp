#include "report/search_story.h"

#include <algorithm>
#include <cmath>
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

}  // namespace

std::vector<std::string> CallsThatMade(const CandidateRecord& candidate) {
  std::vector<std::string> keys = {CallKeyOf(candidate.key), candidate.key + ".again"};
  if (candidate.phase == "algorithm")
    for (const char* end : {".analysis", ".analysis.again"}) keys.push_back(candidate.parent_key + end);
  return keys;
}

std::vector<OperatorUse> OperatorsOf(const RunStory& story) {
  OperatorUse opening;
  opening.op = "opening";
  std::vector<OperatorUse> uses;
  for (const Operator op : kOperators) {
    OperatorUse use;
    use.op = NameOf(op);
    for (const DecisionRecord& one : story.decisions) {
      const int step = StepOf(one.key);
      const Json record = ParsedOrNull(one.json);
      if (step == 0 || !EndsWith(one.key, ".end") || GetString(record, "operator") != use.op) continue;
      ++use.steps;
      use.right += GetBool(record, "right") ? 1 : 0;
      const double gain = GetNumber(record, "gain");
      use.paid += gain > 0 ? 1 : 0;
      use.factor *= std::exp(gain);
      for (const CallRecord& call : story.calls)
        if (StepOf(call.key) == step) AddCost(call, &use);
    }
    if (use.steps > 0) uses.push_back(use);
  }
  if (uses.empty()) return uses;
  for (const CandidateRecord& one : story.candidates) {
    if (StepOf(one.key) > 0 || one.phase == "zero" || !one.judged()) continue;
    ++opening.steps;
    opening.right += one.right() ? 1 : 0;
    opening.factor = std::max(opening.factor, one.right() ? one.vs_best : 0);
  }
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
