// What happens in a run, written down as it happens: into the store, and into the run's folder for people and
// other tools. The store is what counts; a file that cannot be written is reported once, and the run goes on.
//
// A run without a folder has no files.
//
//   best.py  code/KEY.py  evaluation/KEY.json  llm/KEY.prompt.txt, KEY.reply.txt  console.log  usage.csv
//   run.json
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "store/run_store.h"

namespace hone {

// Who watches: the cli's live view, or nobody. Called from several threads, one at a time.
struct RunWatcher {
  std::function<void(const std::string& line)> said;
  std::function<void(const std::string& key, const std::string& doing)> doing;  // empty `doing`: over
  std::function<void(const CandidateRecord& candidate)> judged;
  std::function<void(const std::string& key, int64_t tokens)> tokens;
};

class Recorder {
 public:
  Recorder(RunStore& store, RunRecord run, RunWatcher watcher);

  RunRecord& run() { return run_; }
  RunStore& store() { return store_; }
  fs::path folder() const { return run_.folder; }

  // One line for people: store, console.log, watcher.
  void Say(const std::string& line);
  // The same without the watcher.
  void Log(const std::string& line);
  void Doing(const std::string& key, const std::string& what);
  void Tokens(const std::string& key, int64_t tokens);
  Status Keep(const CallRecord& call);
  // Before it is judged, and again with its verdict.
  Status Keep(const CandidateRecord& candidate);
  // The first decision of a key stays; a resumed run takes the same one again.
  Status Decide(const std::string& key, const std::string& phase, const std::string& text,
                const Json& json = nullptr);
  // Adds the seconds since the last time to the run's, and saves the run.
  Status SaveRun();
  // What run.json holds.
  Result<std::string> SummaryText();
  // run.json, usage.csv and best.py, from the store; and whatever a killed session left out of the folder.
  // What it left unfinished is removed.
  Status WriteSummary(const std::string& best_source);
  double seconds() {
    const std::scoped_lock lock(mutex_);
    return run_.seconds + since_.seconds();
  }

 private:
  void WriteFiles(const CallRecord& call);
  void WriteFiles(const CandidateRecord& candidate);
  void Write(const fs::path& name, const std::string& content);

  RunStore& store_;
  RunRecord run_;
  RunWatcher watcher_;
  std::mutex mutex_;
  bool complained_ = false;
  Stopwatch since_;
};

// A candidate before anybody judged it, with what static analysis says of it.
CandidateRecord RecordOf(const std::string& key, const std::string& phase, const std::string& source,
                         const std::string& task_source);

// Letters, digits, '.', '-' and '_' stay.
std::string FileNameOf(const std::string& key);

}  // namespace hone
