// Records what happens in a run at once: in the store, and in the run's folder for users and other tools.
// Only the store is required: a file that cannot be written is reported once, and the run continues.
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

// An observer of the run, such as the command line's live view. Called from several threads, one at a time.
struct RunWatcher {
  std::function<void(const std::string& line)> said;
  std::function<void(const std::string& key, const std::string& doing)>
      doing;  // an empty `doing` means that it is over
  std::function<void(const CandidateRecord& candidate)> judged;
  std::function<void(const std::string& key, int64_t tokens)> tokens;
};

class Recorder {
 public:
  Recorder(RunStore& store, RunRecord run, RunWatcher watcher);

  RunRecord& run() { return run_; }
  RunStore& store() { return store_; }
  fs::path folder() const { return run_.folder; }

  // One line for users: in the store, console.log and the watcher.
  void Say(const std::string& line);
  // The same without the watcher.
  void Log(const std::string& line);
  void Doing(const std::string& key, const std::string& what);
  void Tokens(const std::string& key, int64_t tokens);
  Status Keep(const CallRecord& call);
  // Saves a candidate before it is judged, and again with its verdict.
  Status Keep(const CandidateRecord& candidate);
  // Keeps the first decision of a key. A resumed run makes the same one again.
  Status Decide(const std::string& key, const std::string& phase, const std::string& text,
                const Json& json = nullptr);
  // Adds the time since the last call to the run's seconds, and saves the run.
  Status SaveRun();
  // The content of run.json.
  Result<std::string> SummaryText();
  // Writes run.json, usage.csv and best.py from the store, and the files that a killed session left out of
  // the folder. Removes its temporary files. Then saves the run, so that a run that is done in the store has
  // had all its files written.
  Status End(const std::string& best_source);
  double seconds() {
    const std::scoped_lock lock(mutex_);
    return run_.seconds + since_.seconds();
  }

 private:
  void WriteFiles(const CallRecord& call);
  void WriteFiles(const CandidateRecord& candidate);
  void Write(const fs::path& name, const std::string& content);
  void CountSeconds();
  Status WriteSummary(const std::string& best_source);

  RunStore& store_;
  RunRecord run_;
  RunWatcher watcher_;
  std::mutex mutex_;
  bool complained_ = false;
  Stopwatch since_;
};

// A candidate before its verdict, with the findings of static analysis.
CandidateRecord RecordOf(const std::string& key, const std::string& phase, const std::string& source,
                         const std::string& task_source);

// Keeps letters, digits, '.', '-' and '_', and replaces all others.
std::string FileNameOf(const std::string& key);

}  // namespace hone
