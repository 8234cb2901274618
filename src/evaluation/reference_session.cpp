#include "evaluation/reference_session.h"

#include <algorithm>

#include "base/ids.h"
#include "base/text.h"
#include "base/threads.h"
#include "evaluation/audit.h"
#include "evaluation/device_lock.h"
#include "evaluation/graph_facts.h"
#include "evaluation/reference_worker.h"
#include "evaluation/run_messages.h"
#include "evaluation/second_look.h"
#include "evaluation/trial_judge.h"
#include "evaluation/truth_builder.h"

namespace hone {

Result<std::unique_ptr<ReferenceSession>> ReferenceSession::Open(TaskFile task, SessionOptions options,
                                                                 const Progress& progress) {
  std::unique_ptr<ReferenceSession> session(new ReferenceSession());
  session->task_ = std::move(task);
  session->options_ = std::move(options);
  if (Status started = session->Start(progress); !started.ok()) {
    Error error = std::move(started).error();
    if (session->worker_ && session->options_.sandbox_task)
      if (const auto refused = session->worker_->zygote().Attempts(); !refused.empty())
        error.message += "\nthe sandbox refused what the task tried: " + Join(refused, "; ");
    // Problems of the task begin with file and line.
    const bool says_where = StartsWith(error.message, session->task_.path.parent_path().string() + "/");
    return says_where ? error : std::move(error).WithContext("task " + session->task_.path.string());
  }
  return session;
}

Status ReferenceSession::StartWorker(const Progress& progress) {
  progress("starting PyTorch", 0, 0);
  HONE_ASSIGN_OR_RETURN(const WorkerOptions how, ReferenceOptions(task_, options_));
  HONE_ASSIGN_OR_RETURN(worker_, WorkerProcess::Start(how));
  const auto opening = StartAsync([this] { OpenDevice(); });  // in parallel with the import of torch
  HONE_ASSIGN_OR_RETURN(HelloReply hello,
                        worker_->Require(HelloRequest{}, {}, 180).WithContext("PyTorch did not start"));
  facts_ = std::move(hello.facts);
  const std::string key = Sha256(task_.sha256 + options_.device + GetString(facts_, "device_name") +
                                 GetString(facts_, "torch") + GetString(facts_, "triton"));
  opening.wait();
  builder_ = std::make_unique<TruthBuilder>(*worker_, LoadOf(task_), plane_.get(), options_, &truth_);
  baselines_.emplace(*builder_, options_, truth_, facts_,
                     CacheFolder() / "compile" / (key.substr(0, 16) + ".json"));
  return Ok();
}

void ReferenceSession::OpenDevice() {
  if (options_.device != "cuda") return;
  Result<std::unique_ptr<DevicePlane>> plane = DevicePlane::Open(0);
  if (plane.ok()) {
    plane_ = std::move(*plane);
    memory_note_ = "shared device memory";
  } else {
    memory_note_ = "copies through the host (" + plane.error().message + ")";
  }
}

void ReferenceSession::EndStep(const char* name) {
  preparation_.emplace_back(name, step_.seconds());
  step_ = Stopwatch();
}

Status ReferenceSession::Start(const Progress& progress) {
  step_ = Stopwatch();
  HONE_RETURN_IF_ERROR(StartWorker(progress));
  EndStep("start");
  // Capturing the graph needs torch's compiler, whose import takes seconds. The zygote imports it while the
  // worker prepares the task.
  if (options_.capture_graph) ImportCompiler();
  HONE_ASSIGN_OR_RETURN(const DeviceUse in_common, DeviceUse::Begin(options_.device, options_.end, progress));
  progress("loading the task", 0, 0);
  HONE_ASSIGN_OR_RETURN(const LoadReply loaded, worker_->Require(LoadOf(task_)));

  HONE_ASSIGN_OR_RETURN(SharedBlob init, SharedBlob::Create("init"));
  HONE_ASSIGN_OR_RETURN(const InitInputsReply init_reply, worker_->Require(InitInputsRequest{}, {init.fd()}));
  init_opaque_ = init_reply.opaque;
  HONE_ASSIGN_OR_RETURN(init_inputs_, ParseTree(init_reply.tree, std::move(init), "init"));

  EndStep("load");
  progress("running the reference", 0, 0);
  truth_.rule = {options_.precision, options_.error_factor, options_.atol, options_.rtol};
  TruthBuilder& builder = *builder_;
  HONE_ASSIGN_OR_RETURN(BuildReply built, builder.AddDefaultCases(progress));
  facts_["beside"] = std::move(built.beside);
  HONE_ASSIGN_OR_RETURN(const CardReply reply, worker_->Require(CardRequest{"default", kFirstCase}));
  card_ = CardFromJson(reply.card);
  // Facts for recipes and prompts that are not on the card.
  for (const char* name : {"module_list", "recurrent_modules"}) facts_[name] = GetMember(reply.card, name);
  facts_["stateful"] = truth_.stateful;
  facts_["random_in_forward"] = truth_.random;
  EndStep("cases");
  has_stress_ = loaded.has_stress;
  variants_ = loaded.variants;
  HONE_RETURN_IF_ERROR(builder.AddFurtherCases(has_stress_, variants_, progress));
  EndStep("stress");
  HONE_RETURN_IF_ERROR(AuditTask(builder, &truth_, progress));
  EndStep("audit");
  HONE_RETURN_IF_ERROR(LearnGraph(progress));
  EndStep("graph");
  HONE_RETURN_IF_ERROR(baselines_->LearnCeilings(&card_, progress));
  EndStep("ceilings");
  if (options_.interpret_triton) return Ok();

  HONE_RETURN_IF_ERROR(baselines_->Prepare(progress));
  EndStep("baselines");
  // On a GPU the profiler takes seconds to start, and bench needs it only for candidates that are ahead.
  if (options_.device != "cuda" || options_.profile_all) HONE_RETURN_IF_ERROR(CountLaunches());
  baselines_->CorrectFloor(&card_, progress);
  EndStep("profile");
  return Ok();
}

Status ReferenceSession::LearnGraph(const Progress& progress) {
  std::vector<bool> agree;
  for (size_t instance = 0; instance < truth_.instances.size(); ++instance) {
    HONE_ASSIGN_OR_RETURN(const bool one, DrawsAgree(*builder_, truth_, instance));
    agree.push_back(one);
    if (!one && instance == 0) break;
  }
  if (!agree[0] && !options_.capture_graph) return Ok();
  progress("capturing the graph", 0, 0);
  Result<TaskGraph> captured = CaptureInFreshProcess();
  if (!captured.ok()) {
    graph_.declined = captured.error().message;
    return Ok();
  }
  graph_ = std::move(*captured);
  return graph_.graph ? TakeGraphFacts(*graph_.graph, agree, &card_) : Ok();
}

Result<TaskGraph> ReferenceSession::CaptureInFreshProcess() {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerProcess> own, StartInstance());
  return CaptureGraph(*own, truth_.instances[0].slot, options_.device, facts_);
}

Status ReferenceSession::DrawAnew(const Progress& progress) {
  worker_->Thaw();
  HONE_ASSIGN_OR_RETURN(const DeviceUse in_common, DeviceUse::Begin(options_.device, options_.end, progress));
  return builder_->DrawAnew(has_stress_, variants_, progress);
}

Result<bool> ReferenceSession::IsRightAnswer(uint64_t input_seed, const TensorTree& answer) {
  if (truth_.stateful || truth_.random || truth_.writes_inputs) return false;
  HONE_ASSIGN_OR_RETURN(const std::optional<Case> made, builder_->MakeTimedCase(input_seed));
  if (!made) return false;
  HONE_ASSIGN_OR_RETURN(Trial trial, JudgeTrial(truth_, *made, answer, made->inputs));
  HONE_RETURN_IF_ERROR(LookAgain(*made, &trial));
  return !IsBad(trial);
}

Result<int> ReferenceSession::LookAgain(const Case& one, Trial* trial) {
  // PyTorch's error does not decide if there is another truth or a requested precision.
  if (truth_.note != "float64" || !truth_.rule.precision.empty()) return 0;
  return hone::LookAgain(
      truth_, one, [&] { return builder_->DrawOwnError(one); }, trial);
}

Status ReferenceSession::CountLaunches() {
  if (launches_ >= 0) return Ok();
  worker_->Thaw();
  HONE_ASSIGN_OR_RETURN(const ProfileReply profile, worker_->Require(ProfileRequest{"default", kFirstCase}));
  launches_ = profile.launches;
  if (options_.device == "cuda") card_.launches = launches_;
  return Ok();
}

void ReferenceSession::ImportAhead(const std::vector<std::string>& rungs) {
  if (std::find(rungs.begin(), rungs.end(), "compile") != rungs.end()) ImportCompiler();
}

void ReferenceSession::ImportCompiler() {
  worker_->Thaw();
  worker_->zygote().Import({"torch._dynamo", "torch._inductor.compile_fx", "triton"});
}

Result<std::unique_ptr<WorkerProcess>> ReferenceSession::StartInstance() {
  worker_->Thaw();
  // Float64 answers of a large task leave tens of gigabytes in this worker's allocator, which fresh workers
  // need.
  if (options_.device == "cuda") HONE_RETURN_IF_ERROR(worker_->Call(DropRequest{}, 60));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<WorkerProcess> fresh, WorkerProcess::Start(worker_->shared_zygote()));
  HONE_RETURN_IF_ERROR(fresh->Require(HelloRequest{}, {}, 180));
  HONE_RETURN_IF_ERROR(fresh->Require(LoadOf(task_)));
  const Instance& own = instances()[0];
  HONE_RETURN_IF_ERROR(fresh->Require(BuildRequest{own.slot, "Model", own.seed}));
  HONE_RETURN_IF_ERROR(fresh->Require(TakeWeightsRequest{own.slot, own.weight_names, own.weights.description},
                                      {own.weights.blob.fd()}));
  if (stateful()) HONE_RETURN_IF_ERROR(fresh->Require(SnapshotRequest{own.slot}));
  return fresh;
}

Result<std::unique_ptr<WorkerProcess>> ReferenceSession::StartFresh(const std::vector<std::string>& rungs) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<WorkerProcess> fresh, StartInstance());
  const Instance& own = instances()[0];
  const Case& one = cases()[0];
  HONE_ASSIGN_OR_RETURN(const CaseLease lease, Hold(one, CaseValues::kInputs));
  HONE_ASSIGN_OR_RETURN(const auto put, PutTree(*fresh, one.id, one.inputs, false, 600, nullptr));
  if (!put.ok()) return Error{ErrorKind::kInvalid, put.failure->message};
  if (options_.device == "cpu") HONE_RETURN_IF_ERROR(fresh->Require(ThreadsRequest{threads()}));
  for (const std::string& rung : rungs)
    HONE_RETURN_IF_ERROR(fresh->Require(RungRequest{own.slot, one.id, rung}));
  return fresh;
}

double ReferenceSession::CallDeadline() const {
  if (options_.timeout_s > 0) return options_.timeout_s;
  return 30 + 30 * eager_us() * 1e-6;
}

}  // namespace hone
