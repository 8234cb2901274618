#include "evaluation/reference_session.h"

#include "base/ids.h"
#include "base/text.h"
#include "evaluation/audit.h"
#include "evaluation/run_messages.h"
#include "evaluation/truth_builder.h"

namespace hone {

Result<std::unique_ptr<ReferenceSession>> ReferenceSession::Open(TaskFile task, SessionOptions options,
                                                                 const Progress& progress) {
  std::unique_ptr<ReferenceSession> session(new ReferenceSession());
  session->task_ = std::move(task);
  session->options_ = std::move(options);
  if (Status started = session->Start(progress); !started.ok()) {
    Error error = std::move(started).error();
    // A problem of the task begins with its file and line.
    const bool says_where = StartsWith(error.message, session->task_.path.parent_path().string() + "/");
    return says_where ? error : std::move(error).WithContext("task " + session->task_.path.string());
  }
  return session;
}

Status ReferenceSession::StartWorker(const Progress& progress) {
  WorkerOptions worker;
  worker.python = options_.python;
  worker.role = "reference";
  worker.device = options_.device;
  worker.end = options_.end;
  progress("starting PyTorch", 0, 0);
  HONE_ASSIGN_OR_RETURN(worker_, WorkerProcess::Start(worker));
  HONE_ASSIGN_OR_RETURN(HelloReply hello,
                        worker_->Require(HelloRequest{}, {}, 180).WithContext("PyTorch did not start"));
  facts_ = std::move(hello.facts);
  const std::string key = Sha256(task_.sha256 + options_.device + GetString(facts_, "device_name") +
                                 GetString(facts_, "torch") + GetString(facts_, "triton"));
  baselines_.emplace(*worker_, options_, truth_, facts_,
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

Status ReferenceSession::Start(const Progress& progress) {
  HONE_RETURN_IF_ERROR(StartWorker(progress));
  OpenDevice();
  progress("loading the task", 0, 0);
  HONE_ASSIGN_OR_RETURN(const LoadReply loaded,
                        worker_->Require(LoadRequest{task_.path.string(), "hone_task", "Model"}));

  HONE_ASSIGN_OR_RETURN(SharedBlob init, SharedBlob::Create("init"));
  HONE_ASSIGN_OR_RETURN(const InitInputsReply init_reply, worker_->Require(InitInputsRequest{}, {init.fd()}));
  init_opaque_ = init_reply.opaque;
  HONE_ASSIGN_OR_RETURN(init_inputs_, ParseTree(init_reply.tree, std::move(init), "init"));

  progress("running the reference", 0, 0);
  truth_.rule = {options_.precision, options_.error_factor, options_.atol, options_.rtol};
  TruthBuilder builder(*worker_, options_, &truth_);
  HONE_ASSIGN_OR_RETURN(BuildReply built, builder.AddDefaultCases(progress));
  facts_["beside"] = std::move(built.beside);
  HONE_ASSIGN_OR_RETURN(const CardReply reply, worker_->Require(CardRequest{"default", "default#1"}));
  card_ = CardFromJson(reply.card);
  // Facts for recipes and prompts, beyond the card.
  for (const char* name : {"module_list", "recurrent_modules"}) facts_[name] = GetMember(reply.card, name);
  facts_["stateful"] = truth_.stateful;
  facts_["random_in_forward"] = truth_.random;
  HONE_RETURN_IF_ERROR(builder.AddStressCases(loaded.has_stress, progress));
  for (const std::string& name : loaded.variants) HONE_RETURN_IF_ERROR(builder.AddVariant(name));
  HONE_RETURN_IF_ERROR(builder.AddChangedCases(progress));
  HONE_RETURN_IF_ERROR(AuditTask(*worker_, &truth_, progress));
  HONE_RETURN_IF_ERROR(baselines_->LearnCeilings(&card_, progress));
  if (options_.interpret_triton) return Ok();

  HONE_RETURN_IF_ERROR(baselines_->Prepare(progress));
  HONE_ASSIGN_OR_RETURN(const ProfileReply profile, worker_->Require(ProfileRequest{"default", "default#1"}));
  launches_ = profile.launches;
  if (options_.device == "cuda") card_.launches = launches_;
  baselines_->CorrectFloor(&card_, progress);
  return Ok();
}

Result<std::unique_ptr<WorkerProcess>> ReferenceSession::StartFresh(const std::vector<std::string>& rungs) {
  worker_->Thaw();
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<WorkerProcess> fresh, WorkerProcess::Start(worker_->shared_zygote()));
  HONE_RETURN_IF_ERROR(fresh->Require(HelloRequest{}, {}, 180));
  HONE_RETURN_IF_ERROR(fresh->Require(LoadRequest{task_.path.string(), "hone_task", "Model"}));
  const Instance& own = instances()[0];
  HONE_RETURN_IF_ERROR(fresh->Require(BuildRequest{own.slot, "Model", own.seed}));
  HONE_RETURN_IF_ERROR(fresh->Require(TakeWeightsRequest{own.slot, own.weight_names, own.weights.description},
                                      {own.weights.blob.fd()}));
  const Case& one = cases()[0];
  HONE_RETURN_IF_ERROR(
      fresh->Require(PutInputsRequest{one.id, one.inputs.description}, {one.inputs.blob.fd()}));
  if (stateful()) HONE_RETURN_IF_ERROR(fresh->Require(SnapshotRequest{own.slot}));
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
