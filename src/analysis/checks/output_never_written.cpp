// output-never-written: forward returns a tensor that was allocated but never filled.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

namespace {

// Matches auto out = torch::empty(...); kernel<<<...>>>(out.data_ptr<float>()); return out; if the kernel
// never stores through that parameter.
void CheckCudaOutputs(const CudaUnit& unit, FindingSink* sink) {
  for (const CudaLaunch& launch : unit.launches) {
    const auto kernel = std::find_if(unit.kernels.begin(), unit.kernels.end(),
                                     [&](const CudaKernel& other) { return other.name == launch.kernel; });
    if (kernel == unit.kernels.end() || launch.function == nullptr || !kernel->flow.complete) continue;
    for (size_t i = 0; i < launch.arguments.size() && i < kernel->flow.params.size(); ++i) {
      const size_t dot = launch.arguments[i].find(".data_ptr");
      if (dot == std::string_view::npos) continue;
      const std::string name(launch.arguments[i].substr(0, dot));
      const std::string_view text = launch.function->text;
      const bool uninitialised =
          Contains(text, name + " = torch::empty") || Contains(text, name + " = at::empty");
      // Another use (a second launch, an in-place call) may fill it.
      size_t mentions = 0;
      for (size_t at = text.find(name + ".data_ptr"); at != std::string_view::npos;
           at = text.find(name + ".data_ptr", at + 1))
        ++mentions;
      if (!uninitialised || mentions != 1 || !Contains(text, "return " + name + ";")) continue;
      const std::string_view param = kernel->flow.params[i];
      const bool stored =
          std::any_of(kernel->flow.accesses.begin(), kernel->flow.accesses.end(),
                      [&](const CudaAccess& access) { return access.is_store && access.base == param; });
      if (stored) continue;
      sink->AddAt(
          unit.OuterStart(launch.node), unit.OuterEnd(launch.node), Severity::kError,
          fmt::format(
              "{} is returned, but it is uninitialised memory: {} gets it as {} and never stores there", name,
              kernel->name, param),
          fmt::format("Store the result through {} in {}.", param, kernel->name));
    }
  }
}

}  // namespace

void CheckOutputNeverWritten(const Candidate& candidate, FindingSink* sink) {
  for (const CudaUnit& unit : candidate.cuda) CheckCudaOutputs(unit, sink);
  if (candidate.python == nullptr) return;
  for (const HostFlow::Unwritten& unwritten : candidate.python->flow.unwritten)
    sink->Add(unwritten.returned, Severity::kError,
              fmt::format("{} is returned, but it is uninitialised memory (allocated at line {}): {}",
                          unwritten.name, LineOf(candidate, unwritten.allocation), unwritten.reason),
              fmt::format("Store the result into {} before returning it.", unwritten.name));
}

}  // namespace hone
