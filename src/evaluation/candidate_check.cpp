#include "evaluation/candidate_check.h"

#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/lint.h"
#include "base/files.h"
#include "base/text.h"
#include "evaluation/run_messages.h"
#include "evaluation/setup_messages.h"
#include "evaluation/task_folder_blame.h"

namespace hone {

namespace {

constexpr size_t kMostNames = 20;  // most names that a verdict shows
constexpr const char* kTaskCopy = "hone_task_file.py";
constexpr double kImportTorchS = 180;
constexpr double kForkS = 40;  // it takes milliseconds unless the zygote was stopped

std::vector<std::string> ShownNames(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (size_t i = 0; i < names.size() && i < kMostNames; ++i) shown.push_back(SafeForTerminal(names[i]));
  return shown;
}

}  // namespace

void CandidateCheck::StopAt(Phase phase, WorkerFailure failure) {
  m_.stop = Stop{phase, std::move(failure)};
  BlameTaskFolder(GetMember(session_.facts(), "beside"), &m_.stop->failure);
}

Status CandidateCheck::PlaceSources() {
  HONE_ASSIGN_OR_RETURN(placed_source_, CopyInto(candidate_, folder_));
  if (session_.init_inputs_opaque())
    HONE_RETURN_IF_ERROR(WriteFileAtomic(folder_ / kTaskCopy, session_.task().source));
  return Ok();
}

Result<bool> CandidateCheck::BlameSandbox(const Error& error) {
  StopAt(Phase::kStart,
         {FailureKind::kExited, "", "a second process could not be started: " + error.message, ""});
  return false;
}

void CandidateCheck::Remark(std::string text) {
  if (!text.empty()) m_.notes.push_back(std::move(text));
}

Result<bool> CandidateCheck::Lint() {
  if (!session_.options().lint) return true;
  const LintOptions options = LintOptionsOn(session_.facts(), session_.task().source);
  m_.findings = LintSource(candidate_.path.string(), candidate_.source, options).findings;
  const Finding* refused =
      FirstWithForce(m_.findings, session_.options().lint_predicts ? Force::kPredict : Force::kRefuse);
  if (refused != nullptr) m_.refused_by = *refused;
  return refused == nullptr;
}

Result<bool> CandidateCheck::Import() {
  progress_("importing the candidate", 0, 0);
  HONE_ASSIGN_OR_RETURN(const auto hello,
                        Ask(Phase::kStart, HelloRequest{}, {}, sandbox_was_used_ ? kForkS : kImportTorchS));
  if (!hello && sandbox_was_used_) return false;
  never_started_ = !hello;
  if (!hello)
    return Error{ErrorKind::kUnavailable, "the candidate's interpreter did not start: " +
                                              m_.stop->failure.message + "\n" + m_.stop->failure.detail};
  worker_.zygote().ForgetAttempts();
  if (session_.threads() > 0 && session_.options().device == "cpu") {
    HONE_ASSIGN_OR_RETURN(const auto set, Ask(Phase::kStart, ThreadsRequest{session_.threads()}, {}, 60));
    if (!set) return false;
  }
  if (placed_source_.empty()) {
    HONE_RETURN_IF_ERROR(PlaceSources());
  }
  HONE_ASSIGN_OR_RETURN(
      const auto loaded,
      Ask(Phase::kImport, LoadRequest{placed_source_.string(), "hone_candidate", "ModelNew"}, {},
          session_.options().build_timeout_s));
  if (!loaded) return false;
  m_.has_class = loaded->has_class;
  if (!m_.has_class) {
    std::vector<std::string> names;
    for (const std::string& name : loaded->names) names.push_back(SafeForTerminal(name));
    m_.class_hint = Join(names, ", ");
    return false;
  }
  return true;
}

Result<bool> CandidateCheck::Build() {
  for (const Instance& instance : session_.instances()) {
    HONE_ASSIGN_OR_RETURN(const bool built, BuildInstance(instance));
    if (!built) return false;
  }
  return true;
}

Result<bool> CandidateCheck::BuildFirst() {
  return BuildInstance(session_.instances()[0]);
}

Result<bool> CandidateCheck::BuildInstance(const Instance& instance) {
  progress_("building " + instance.slot, 0, 0);
  const double seconds = session_.options().build_timeout_s;
  BuildRequest build = {instance.slot, "ModelNew", instance.seed};
  std::vector<int> descriptors;
  if (session_.init_inputs_opaque()) {
    build.init_file = (folder_ / kTaskCopy).string();
  } else {
    build.init = session_.init_inputs().description;
    descriptors.push_back(session_.init_inputs().blob.fd());
  }
  HONE_ASSIGN_OR_RETURN(const auto built, Ask(Phase::kBuild, build, descriptors, seconds));
  if (!built) return false;
  const TakeWeightsRequest take = {instance.slot, instance.weight_names, instance.weights.description};
  HONE_ASSIGN_OR_RETURN(const auto taken, Ask(Phase::kWeights, take, {instance.weights.blob.fd()}, seconds));
  if (!taken) return false;
  m_.weights_how = taken->how;
  m_.weights_missing = ShownNames(taken->missing);
  m_.weights_unexpected = ShownNames(taken->unexpected);
  if (!session_.stateful()) return true;
  HONE_ASSIGN_OR_RETURN(const auto kept, Ask(Phase::kBuild, SnapshotRequest{instance.slot}, {}, 60));
  return kept.has_value();
}

Result<bool> CandidateCheck::Inspect() {
  HONE_ASSIGN_OR_RETURN(const auto told, Ask(Phase::kProfile, TamperingRequest{}, {}, 60));
  if (!told) return false;
  m_.tampering = ShownNames(told->changed);
  libraries_ = told->libraries;
  m_.attempts = worker_.zygote().Attempts();
  return m_.tampering.empty() && m_.attempts.empty();
}

Result<bool> CandidateCheck::ProfileCall() {
  if (session_.options().interpret_triton) return true;
  return session_.options().device == "cuda" && !session_.options().profile_all ? Result<bool>(true)
                                                                                : Profile();
}

Result<bool> CandidateCheck::Profile() {
  progress_("counting launches", 0, 0);
  HONE_RETURN_IF_ERROR(session_.CountLaunches());
  const Case& one = session_.cases()[0];
  HONE_ASSIGN_OR_RETURN(const CaseLease lease, session_.Hold(one, CaseValues::kInputs));
  HONE_ASSIGN_OR_RETURN(const bool put, Put(one, "profile", false));
  if (!put) return false;
  HONE_ASSIGN_OR_RETURN(auto reply, Ask(Phase::kProfile, ProfileRequest{"default", "profile"}, {}, 300));
  if (!reply) return false;
  HONE_ASSIGN_OR_RETURN(const bool dropped, DropPlaced());
  if (!dropped) return false;
  m_.profile =
      hone::Profile{reply->launches, reply->own_us, reply->library_us, ProfiledKernelsFrom(reply->kernels)};
  return true;
}

}  // namespace hone
