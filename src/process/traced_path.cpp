#include "process/traced_path.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>

#include "base/text.h"
#include "base/unique_fd.h"

namespace hone {

namespace {

// The kernel's own limit on links.
constexpr int kMostLinks = 40;

std::string Proc(pid_t pid) {
  return "/proc/" + std::to_string(pid);
}

// Returns the last number of a line of /proc/PID/status, which is the one in the innermost namespace.
pid_t LastNumber(const std::string& status, const std::string& name) {
  for (const std::string& line : Lines(status)) {
    if (!StartsWith(line, name + ":")) continue;
    const size_t at = line.find_last_of(" \t");
    return at == std::string::npos ? 0 : static_cast<pid_t>(std::atoi(line.c_str() + at));
  }
  return 0;
}

void Prepend(std::deque<std::string>& steps, const fs::path& path) {
  std::deque<std::string> front;
  for (const fs::path& part : path.relative_path()) front.push_back(part.string());
  steps.insert(steps.begin(), front.begin(), front.end());
}

}  // namespace

TracedProcess::TracedProcess(pid_t thread) : thread_(thread) {
  const Result<std::string> status = ReadFile(Proc(thread) + "/status");
  const std::string text = status.ok() ? *status : "";
  id_ = LastNumber(text, "Tgid");
  if (id_ == 0) id_ = thread;
  own_id_ = LastNumber(text, "NStgid");
  own_thread_ = LastNumber(text, "NSpid");
}

std::string TracedProcess::Read(uint64_t address, size_t size) const {
  UniqueFd memory(open((Proc(thread_) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  if (!memory.valid()) return "";
  std::string bytes(size, '\0');
  const ssize_t got = pread(memory.get(), bytes.data(), size, static_cast<off_t>(address));
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

std::string TracedProcess::ReadString(uint64_t address) const {
  const std::string bytes = Read(address, 4096);
  return bytes.substr(0, bytes.find('\0'));
}

fs::path TracedProcess::FromHere(const fs::path& resolved) const {
  return Proc(thread_) + "/root" + resolved.string();
}

fs::path TracedProcess::Resolve(int folder, const std::string& path) const {
  std::error_code code;
  fs::path done = "/";  // the resolved part, without links
  std::deque<std::string> steps;
  if (!StartsWith(path, "/")) {
    const std::string start = folder == AT_FDCWD ? "/cwd" : "/fd/" + std::to_string(folder);
    const fs::path base = fs::read_symlink(Proc(thread_) + start, code);
    if (code || !base.is_absolute()) return {};  // a pipe or a memory file has no path
    Prepend(steps, base);
  }
  for (const fs::path& part : fs::path(path).relative_path()) steps.push_back(part.string());

  for (int links = 0; !steps.empty();) {
    const std::string step = steps.front();
    steps.pop_front();
    if (step.empty() || step == ".") continue;
    if (step == "..") {
      done = done.parent_path();
      continue;
    }
    // These two depend on the process that reads them, so they must be resolved for the traced process.
    if (done == "/proc" && step == "self") {
      done /= std::to_string(own_id_);
      continue;
    }
    if (done == "/proc" && step == "thread-self") {
      done = done / std::to_string(own_id_) / "task" / std::to_string(own_thread_);
      continue;
    }
    const fs::path next = done / step;
    const fs::path target = fs::read_symlink(FromHere(next), code);
    if (code || ++links > kMostLinks) {  // no link, or the path does not exist
      done = next;
      continue;
    }
    if (StartsWith(target.string(), "/memfd:")) return {};
    if (target.is_absolute()) done = "/";
    Prepend(steps, target);
  }
  return done;
}

}  // namespace hone
