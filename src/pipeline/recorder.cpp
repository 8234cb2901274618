#include "pipeline/recorder.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdio>

#include "analysis/lint.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/text.h"
#include "base/unfinished_files.h"
#include "model/replies.h"
#include "model/usage.h"
#include "store/record_io.h"

namespace hone {

namespace {

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  return "\"" + ReplaceAll(text, "\"", "\"\"") + "\"";
}

std::string CsvField(const OrderedJson& value) {
  if (value.is_string()) return CsvField(value.get<std::string>());
  return value.is_number_float() ? fmt::format("{:.6f}", value.get<double>()) : DumpJson(value);
}

// The fields of a call that identify it and its usage.
std::string UsageCsv(const std::vector<CallRecord>& calls) {
  std::vector<std::string> names = {"key", "call_type", "status", "model"};
  const OrderedJson used = ToJson(Usage());
  for (const auto& [name, unused] : used.items()) names.push_back(name);
  names.insert(names.end(), {"seconds", "attempts"});
  std::string csv = Join(names, ",") + "\n";
  for (const CallRecord& call : calls) {
    const OrderedJson row = RecordToJson(call, Extent::kList);
    std::vector<std::string> values;
    for (const std::string& name : names) values.push_back(CsvField(row.at(name)));
    csv += Join(values, ",") + "\n";
  }
  return csv;
}

Json ParsedOrNull(const std::string& text) {
  Result<Json> json = ParseJson(text);
  return json.ok() ? std::move(*json) : Json();
}

// run.json has had its own form for the run's name, task and speed-up since its first version.
OrderedJson Summary(const RunRecord& run, const std::vector<CandidateRecord>& candidates,
                    const std::vector<DecisionRecord>& decisions, const UsageTotals& usage) {
  OrderedJson json = {{"run", run.name}, {"hone", HONE_VERSION}};
  json.update(RecordToJson(run, Extent::kList));
  OrderedJson speedup = {{"vs_best", json["vs_best"]}, {"vs_eager", json["vs_eager"]}};
  for (const CandidateRecord& one : candidates)  // the baseline of the best
    if (!run.best_key.empty() && one.key == run.best_key)
      speedup["best_baseline"] = GetString(GetMember(ParsedOrNull(one.json), "speedup"), "best_baseline");
  for (const char* name : {"name", "task_path", "task_sha256", "vs_best", "vs_eager"}) json.erase(name);
  json["task"] = {{"name", run.task}, {"path", run.task_path}, {"sha256", run.task_sha256}};
  json["speedup"] = speedup;
  json["usage"] = RecordToJson(usage, Extent::kWhole);
  json["options"] = ParsedOrNull(run.options);
  json["candidates"] = OrderedJson::array();
  for (const CandidateRecord& one : candidates)
    json["candidates"].push_back(RecordToJson(one, Extent::kList));
  json["decisions"] = OrderedJson::array();
  for (const DecisionRecord& one : decisions)
    json["decisions"].push_back(
        {{"key", one.key}, {"phase", one.phase}, {"text", one.text}, {"record", ParsedOrNull(one.json)}});
  return json;
}

}  // namespace

std::string FileNameOf(const std::string& key) {
  std::string name;
  for (const char c : key)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' ? c : '_';
  return name;
}

CandidateRecord RecordOf(const std::string& key, const std::string& phase, const std::string& source,
                         const std::string& task_source) {
  CandidateRecord candidate;
  candidate.key = key;
  candidate.phase = phase;
  candidate.created = UtcTimestamp();
  candidate.source = source;
  candidate.sha256 = Sha256(source);
  LintOptions lint;
  lint.task_text = task_source;
  const LintReport report = LintSource(FileNameOf(key) + ".py", source, lint);
  candidate.kernel_class = KernelClassName(report.kernel_class);
  candidate.facts = DumpJson(report.facts);
  candidate.findings = DumpJson(ToJson(report.findings));
  return candidate;
}

Recorder::Recorder(RunStore& store, RunRecord run, RunWatcher watcher)
    : store_(store), run_(std::move(run)), watcher_(std::move(watcher)) {}

void Recorder::Write(const fs::path& name, const std::string& content) {
  if (run_.folder.empty()) return;
  const fs::path path = folder() / name;
  Status written = MakeFolders(path.parent_path());
  if (written.ok()) written = WriteFileAtomic(path, content);
  if (written.ok()) return;
  {
    const std::scoped_lock lock(mutex_);
    if (complained_) return;
    complained_ = true;
  }
  Say("cannot write into the run's folder (the store has everything): " + written.error().message);
}

void Recorder::Say(const std::string& line) {
  Log(line);
  const std::scoped_lock lock(mutex_);
  if (watcher_.said) watcher_.said(line);
}

void Recorder::Log(const std::string& line) {
  (void)store_.AddConsole(run_.id, line).ok();
  const std::scoped_lock lock(mutex_);
  std::FILE* log = run_.folder.empty() ? nullptr : std::fopen((folder() / "console.log").c_str(), "a");
  if (log != nullptr) {
    fmt::print(log, "{}  {}\n", UtcTimestamp(), line);
    std::fclose(log);
  }
}

void Recorder::Doing(const std::string& key, const std::string& what) {
  const std::scoped_lock lock(mutex_);
  if (watcher_.doing) watcher_.doing(key, what);
}

void Recorder::Tokens(const std::string& key, int64_t tokens) {
  const std::scoped_lock lock(mutex_);
  if (watcher_.tokens) watcher_.tokens(key, tokens);
}

void Recorder::WriteFiles(const CallRecord& call) {
  const std::string name = FileNameOf(call.key);
  Write("llm/" + name + ".prompt.txt", call.system + "\n\n" + call.prompt);
  // An agent's output is kept however it ended.
  if (call.status == "answered" || call.call_type == "agent") {
    const std::vector<ReplyChoice> more = RepliesFrom(call.more_replies);
    const std::string thinking = AllTexts(call.thinking, more, &ReplyChoice::thinking);
    Write("llm/" + name + ".reply.txt", AllTexts(call.reply, more, &ReplyChoice::text));
    if (!thinking.empty()) Write("llm/" + name + ".thinking.txt", thinking);
  }
  if (call.status != "answered" && call.status != "running")
    Write("llm/" + name + ".error.txt", call.status + ": " + call.error + "\n");
}

void Recorder::WriteFiles(const CandidateRecord& candidate) {
  const std::string name = FileNameOf(candidate.key);
  Write("code/" + name + ".py", candidate.source);
  if (!candidate.json.empty()) Write("evaluation/" + name + ".json", candidate.json + "\n");
}

Status Recorder::Keep(const CallRecord& call) {
  HONE_RETURN_IF_ERROR(store_.SaveCall(call));
  HONE_RETURN_IF_ERROR(SaveRun());
  WriteFiles(call);
  const Result<std::vector<CallRecord>> calls = store_.CallSummaries(run_.id);
  if (calls.ok()) Write("usage.csv", UsageCsv(*calls));
  return Ok();
}

Status Recorder::Keep(const CandidateRecord& candidate) {
  HONE_RETURN_IF_ERROR(store_.SaveCandidate(candidate));
  WriteFiles(candidate);
  if (!candidate.judged()) return Ok();
  HONE_RETURN_IF_ERROR(SaveRun());
  const std::scoped_lock lock(mutex_);
  if (watcher_.judged) watcher_.judged(candidate);
  return Ok();
}

Status Recorder::Decide(const std::string& key, const std::string& phase, const std::string& text,
                        const Json& json) {
  HONE_ASSIGN_OR_RETURN(const std::optional<DecisionRecord> before, store_.Decision(run_.id, key));
  if (before) return Ok();
  HONE_RETURN_IF_ERROR(
      store_.SaveDecision(run_.id, DecisionRecord{key, UtcTimestamp(), phase, text, DumpJson(json)}));
  Say(text);
  return Ok();
}

void Recorder::CountSeconds() {
  run_.seconds += since_.seconds();
  since_ = Stopwatch();
}

Status Recorder::SaveRun() {
  const std::scoped_lock lock(mutex_);
  CountSeconds();
  HONE_ASSIGN_OR_RETURN(run_.result, store_.UpdateRun(run_));
  return Ok();
}

Status Recorder::End(const std::string& best_source) {
  {
    const std::scoped_lock lock(mutex_);
    CountSeconds();
  }
  HONE_RETURN_IF_ERROR(WriteSummary(best_source));
  const std::scoped_lock lock(mutex_);
  since_ = Stopwatch();  // run.json and the store have the same seconds
  HONE_ASSIGN_OR_RETURN(run_.result, store_.UpdateRun(run_));
  return Ok();
}

Result<std::string> Recorder::SummaryText() {
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> candidates, store_.Candidates(run_.id));
  HONE_ASSIGN_OR_RETURN(const std::vector<DecisionRecord> decisions, store_.Decisions(run_.id));
  HONE_ASSIGN_OR_RETURN(const UsageTotals usage, store_.Usage(run_.id));
  return DumpJson(Summary(run_, candidates, decisions, usage), 2) + "\n";
}

Status Recorder::WriteSummary(const std::string& best_source) {
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> candidates, store_.Candidates(run_.id));
  HONE_ASSIGN_OR_RETURN(const std::vector<CallRecord> calls, store_.Calls(run_.id));
  for (const CallRecord& call : calls) WriteFiles(call);
  for (const CandidateRecord& candidate : candidates) WriteFiles(candidate);
  Write("usage.csv", UsageCsv(calls));
  if (!best_source.empty()) Write("best.py", best_source);
  HONE_ASSIGN_OR_RETURN(const std::string summary, SummaryText());
  Write("run.json", summary);
  if (!run_.folder.empty())
    for (const char* name : {"", "code", "evaluation", "llm"}) RemoveUnfinishedFiles(folder() / name);
  return Ok();
}

}  // namespace hone
