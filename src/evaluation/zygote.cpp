#include "evaluation/zygote.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "base/embedded.h"
#include "base/ids.h"
#include "base/text.h"
#include "base/threads.h"
#include "evaluation/timing_messages.h"
#include "process/limits.h"
#include "process/tree.h"

namespace hone {

std::span<const EmbeddedFile> EmbeddedFiles_hone_evaluation();

namespace {

Status WriteWorker(const fs::path& folder) {
  HONE_RETURN_IF_ERROR(MakeFolders(folder));
  for (const EmbeddedFile& file : EmbeddedFiles_hone_evaluation())
    HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / file.name, file.content));
  return Ok();
}

// torch.compile caches the reference's kernels in a folder of Hone: any user can create files in the usual
// folder in /tmp first.
void KeepOwnCaches(std::vector<std::string>& env) {
  for (const auto& [name, folder] :
       {std::pair{"TORCHINDUCTOR_CACHE_DIR", "inductor"}, {"TRITON_CACHE_DIR", "triton"}})
    if (const fs::path own = CacheFolder() / "reference" / folder; MakeFolders(own).ok())
      SetVariable(env, name, own.string());
}

Result<SandboxPolicy> PolicyOf(const WorkerOptions& options) {
  HONE_ASSIGN_OR_RETURN(const fs::path folder, WorkerFolder());
  SandboxPolicy policy;
  policy.readable = options.readable;
  policy.readable.push_back(folder);
  policy.readable.insert(policy.readable.end(), options.python.read_paths.begin(),
                         options.python.read_paths.end());
  policy.private_folder = options.private_folder;
  policy.gpu = options.device == "cuda";
  // An untrusted task's reference is ended only after every candidate.
  policy.expendable = options.role == "candidate" ? 1000 : 500;
  return policy;
}

}  // namespace

std::vector<std::string> CandidateEnvironment(const fs::path& private_folder) {
  std::vector<std::string> env;
  for (const char* name :
       {"PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "CC", "CXX", "CUDACXX",
        "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VIRTUAL_ENV", "PYTHONPATH", "TORCH_CUDA_ARCH_LIST"})
    if (const char* value = std::getenv(name)) SetVariable(env, name, value);
  const std::string home = private_folder.string();
  for (const char* name : {"HOME", "TMPDIR"}) SetVariable(env, name, home);
  SetVariable(env, "XDG_CACHE_HOME", home + "/cache");
  SetVariable(env, "TORCH_EXTENSIONS_DIR", home + "/torch_extensions");
  SetVariable(env, "TORCHINDUCTOR_CACHE_DIR", home + "/inductor");
  SetVariable(env, "TRITON_CACHE_DIR", home + "/triton");
  SetVariable(env, "CUDA_CACHE_PATH", home + "/nv");
  SetVariable(env, "HONE_EXT_CACHE", home + "/hone_ext");
  SetVariable(env, "PYTHONUSERBASE", (HomeFolder() / ".local").string());
  return env;
}

std::string_view ExtensionModule() {
  for (const EmbeddedFile& file : EmbeddedFiles_hone_evaluation())
    if (file.name == "hone_ext.py") return file.content;
  return "";
}

Result<fs::path> WorkerFolder() {
  static std::mutex mutex;
  static fs::path folder;
  std::lock_guard lock(mutex);
  if (!folder.empty()) return folder;
  std::string all;
  for (const EmbeddedFile& file : EmbeddedFiles_hone_evaluation())
    all += file.name + "\n" + std::string(file.content);
  const fs::path cached = CacheFolder() / "worker" / Sha256(all).substr(0, 16);
  if (WriteWorker(cached).ok()) {
    folder = cached;
    return folder;
  }
  // If the home folder is read-only or full, a temporary folder is used.
  static TempFolder* temporary = nullptr;
  HONE_ASSIGN_OR_RETURN(TempFolder made, TempFolder::Make("hone-worker-"));
  temporary = new TempFolder(std::move(made));
  std::atexit([] { delete temporary; });
  HONE_RETURN_IF_ERROR(WriteWorker(temporary->path()));
  folder = temporary->path();
  return folder;
}

Result<std::vector<std::string>> InterpreterArgv(const PythonInfo& python, const std::string& role,
                                                 const std::string& device) {
  HONE_ASSIGN_OR_RETURN(const fs::path folder, WorkerFolder());
  return std::vector<std::string>{python.program.string(),   "-u", (folder / "hone_worker.py").string(),
                                  std::to_string(kWorkerFd), role, device};
}

void AddInterpreterVariables(std::vector<std::string>& env) {
  SetVariable(env, "PYTHONDONTWRITEBYTECODE", "1");
  SetVariable(env, "PYTHONUNBUFFERED", "1");
  SetVariable(env, "TOKENIZERS_PARALLELISM", "false");
  // Inductor starts processes for Triton's compiler with the first module that it compiles, on a CPU too.
  // They import for seconds after that module is ready, and would run beside the calls that are timed.
  SetVariable(env, "TORCH_WARM_POOL", "0");
}

Result<std::shared_ptr<Zygote>> Zygote::Start(const WorkerOptions& options) {
  HONE_ASSIGN_OR_RETURN(Channel::Pair pair, Channel::MakePair());
  ChildSpec spec;
  HONE_ASSIGN_OR_RETURN(spec.argv, InterpreterArgv(options.python, options.role, options.device));
  const bool foreign = options.role == "candidate" || !options.private_folder.empty();
  spec.env = foreign ? CandidateEnvironment(options.private_folder) : CurrentEnvironment();
  if (!foreign) KeepOwnCaches(spec.env);
  AddInterpreterVariables(spec.env);
  if (options.interpret_triton) SetVariable(spec.env, "TRITON_INTERPRET", "1");
  if (!options.private_folder.empty()) spec.folder = options.private_folder;
  spec.descriptors = {{pair.theirs.get(), kWorkerFd}};
  HONE_ASSIGN_OR_RETURN(const SandboxPolicy policy, PolicyOf(options));

  std::shared_ptr<Zygote> zygote(new Zygote());
  zygote->options_ = options;
  if (options.nursery) {
    Result<SandboxedChild> placed = options.nursery->Place(spec, policy, pair.theirs.get());
    if (placed.ok())
      zygote->started_ = std::move(*placed);
    else if (placed.error().kind == ErrorKind::kInterrupted)
      return std::move(placed).error();
  }
  if (!zygote->started_.child) {
    HONE_ASSIGN_OR_RETURN(zygote->started_, SpawnSandboxed(spec, policy, options.sandbox));
  }
  zygote->control_ = std::move(pair.ours);
  if (options.process_limit > 0)
    zygote->watcher_ =
        StartThread([raw = zygote.get(), limit = options.process_limit] { raw->Watch(limit); });
  return zygote;
}

Zygote::~Zygote() {
  stop_ = true;
  if (watcher_.joinable()) watcher_.join();
  Kill();
}

void Zygote::Kill() {
  if (freezer_) freezer_->Thaw();
  if (started_.child) started_.child->Kill();
}

Freezer& Zygote::freezer() {
  if (!freezer_) freezer_ = std::make_unique<Freezer>(pid());
  return *freezer_;
}

Result<Zygote::Fork> Zygote::Ask() {
  HONE_ASSIGN_OR_RETURN(Channel::Pair pair, Channel::MakePair());
  HONE_RETURN_IF_ERROR(control_.Send(EncodeRequest(ForkRequest{}), {pair.theirs.get()}));
  return Fork{std::move(pair.ours), forks_++};
}

void Zygote::Import(const std::vector<std::string>& libraries) {
  if (!libraries.empty()) (void)control_.Send(EncodeRequest(ImportRequest{libraries}));
}

Zygote::End Zygote::HowEnded(int number) {
  End end;
  if (!running() || !control_.Send(EncodeRequest(StatusRequest{number})).ok()) return end;
  Result<Message> told = control_.Receive(Deadline::After(4));
  if (!told.ok()) return end;
  StatusReply status;
  (void)Decode(std::move(told->body), &status);  // its members are hints
  return {status.running, status.code, status.signal};
}

void Zygote::Watch(int process_limit) {
  UsageWatch watch(pid());
  while (!stop_) {
    const std::optional<OverLimit> over =
        watch.Look({process_limit, LimitsOfSandboxes().threads, memory_limit_});
    if (over) {
      {
        const std::lock_guard lock(limit_mutex_);
        over_limit_ = over;
      }
      KillTree(pid());
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
  }
}

std::optional<OverLimit> Zygote::over_limit() const {
  const std::lock_guard lock(limit_mutex_);
  return over_limit_;
}

std::vector<std::string> Zygote::Attempts() const {
  return started_.watch ? started_.watch->attempts() : std::vector<std::string>{};
}

void Zygote::ForgetAttempts() {
  if (started_.watch) started_.watch->Forget();
}

std::string Zygote::LastWords() const {
  return Tail(started_.child->err(), 8000);
}

}  // namespace hone
