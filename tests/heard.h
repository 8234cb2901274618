// A model and a judge that report their requests to a listener, for tests that kill a run. The listener is
// called at every step of a run, and for each request and each candidate. The answers come from the wrapped
// model and judge.
#pragma once

#include <fstream>
#include <functional>
#include <string>

#include "base/files.h"
#include "model/model.h"
#include "pipeline/candidate_judge.h"
#include "pipeline/recorder.h"

namespace hone {

// `step` is called before and after each request and each verdict, and at every screening run and console
// line.
struct Listener {
  std::function<void()> step = [] {};
  std::function<void(const std::string& what)> asked = [](const std::string&) {};
};

// Logs each request in one line and one write, so that lines stay whole if the process is killed.
inline Listener ListenerInto(const fs::path& log) {
  Listener listener;
  listener.asked = [log](const std::string& what) { std::ofstream(log, std::ios::app) << what + "\n"; };
  return listener;
}

inline RunWatcher WatcherOf(const Listener& listener) {
  RunWatcher watcher;
  watcher.said = [&listener](const std::string&) { listener.step(); };
  watcher.judged = [&listener](const CandidateRecord&) { listener.step(); };
  return watcher;
}

class HeardModel : public Model {
 public:
  HeardModel(Model& model, const Listener& listener) : model_(model), listener_(listener) {}
  ModelReply Ask(const ModelRequest& request, const ModelProgress& progress) override {
    listener_.step();
    listener_.asked("call " + request.key);
    ModelReply reply = model_.Ask(request, progress);
    listener_.step();
    return reply;
  }
  // One request with several replies.
  ModelReply AskForSeveral(const ModelRequest& request, int n, const ModelProgress& progress) override {
    listener_.step();
    listener_.asked("call " + request.key);
    ModelReply reply = model_.AskForSeveral(request, n, progress);
    listener_.step();
    return reply;
  }
  std::string name() const override { return model_.name(); }
  bool order_matters() const override { return model_.order_matters(); }
  void MarkAnswered(const std::string& call_type, const std::string& key) override {
    model_.MarkAnswered(call_type, key);
  }

 private:
  Model& model_;
  const Listener& listener_;
};

class HeardJudge : public CandidateJudge {
 public:
  HeardJudge(CandidateJudge& judge, const Listener& listener) : judge_(judge), listener_(listener) {}
  void EndAt(Deadline end) override { judge_.EndAt(end); }
  CandidateRecord Describe(const std::string& key, const std::string& phase, const std::string& source,
                           const std::string& task_source) override {
    return judge_.Describe(key, phase, source, task_source);
  }
  Result<TaskContext> Context(const Progress& progress) override { return judge_.Context(progress); }
  Result<std::optional<Judged>> Known(const CandidateFile& file) override { return judge_.Known(file); }
  Result<Judged> Judge(const CandidateFile& file, const Progress& progress) override {
    listener_.step();
    listener_.asked("verdict on " + file.name);
    Result<Judged> judged = judge_.Judge(file, progress);
    listener_.step();
    return judged;
  }
  Result<std::optional<Judged>> JudgeAnew(const CandidateFile& file, bool chosen,
                                          const Progress& progress) override {
    listener_.step();
    Result<std::optional<Judged>> judged = judge_.JudgeAnew(file, chosen, progress);
    // A judge without other cases received no request.
    if (judged.ok() && judged->has_value()) listener_.asked("second verdict on " + file.name);
    listener_.step();
    return judged;
  }
  Result<QuickLook> Look(const CandidateFile& file, const Progress& progress) override {
    listener_.step();
    return judge_.Look(file, progress);
  }
  Result<KernelProfile> Profile(const CandidateFile& file) override { return judge_.Profile(file); }

 private:
  CandidateJudge& judge_;
  const Listener& listener_;
};

}  // namespace hone
