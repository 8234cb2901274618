// The list of checks, in the order in which they run and `hone lint --rules` prints them.
#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/embedded.h"

namespace hone {

std::span<const EmbeddedFile> EmbeddedFiles_hone_analysis();

namespace {

// Rules with kReport reported errors in 42 of 911 model-written files that ran (tensor-indexing 14,
// host-called-from-jit 10, unsupported-statement 7, arange-not-constexpr 6, unknown-triton-op 5).
constexpr CheckInfo kChecks[] = {
    {"syntax", Severity::kError, "the file does not parse", CheckSyntax, Force::kRefuse},
    {"missing-modelnew", Severity::kError, "there is no class ModelNew", CheckMissingModelNew},
    {"unknown-triton-op", Severity::kError, "a triton.language name that no release in question has",
     CheckUnknownTritonOp, Force::kReport},
    {"arange-not-constexpr", Severity::kError, "a block extent that is not known at compile time",
     CheckArangeNotConstexpr, Force::kReport},
    {"arange-not-power-of-two", Severity::kError, "a block extent that is not a power of two",
     CheckArangeNotPowerOfTwo},
    {"tensor-indexing", Severity::kError, "indexing or slicing a block or a pointer", CheckTensorIndexing,
     Force::kReport},
    {"unsupported-statement", Severity::kError, "Python that Triton refuses inside a kernel",
     CheckUnsupportedStatement, Force::kReport},
    {"jit-called-from-host", Severity::kError, "a kernel called without a grid", CheckJitCalledFromHost},
    {"host-called-from-jit", Severity::kError, "a host function called inside a kernel",
     CheckHostCalledFromJit, Force::kReport},
    {"name-not-defined", Severity::kError, "a name that nothing defines", CheckNameNotDefined},
    {"bad-call-arguments", Severity::kError, "a tl function or helper called with the wrong arguments",
     CheckBadCallArguments},
    {"missing-launch-argument", Severity::kError, "a launch that leaves out a parameter",
     CheckMissingLaunchArgument},
    {"duplicate-launch-argument", Severity::kError, "a launch that passes a parameter twice",
     CheckDuplicateLaunchArgument},
    {"unknown-launch-argument", Severity::kError, "a launch that passes what the kernel does not take",
     CheckUnknownLaunchArgument},
    {"autotune-redefined", Severity::kError, "a meta-parameter both tuned and passed",
     CheckAutotuneRedefined},
    {"bad-decorator-argument", Severity::kError, "jit, autotune or Config used in a way that fails on import",
     CheckBadDecoratorArgument},
    {"incompatible-block-shapes", Severity::kError, "operands whose shapes or types do not fit",
     CheckIncompatibleBlockShapes},
    {"shared-memory-over-limit", Severity::kError, "tiles that do not fit into shared memory",
     CheckSharedMemoryOverLimit},
    {"recurrence-race", Severity::kError, "state exchanged across programs without a barrier",
     CheckRecurrenceRace, Force::kRefuse},
    {"missing-sync", Severity::kError, "shared memory read by other threads without a barrier",
     CheckMissingSync},
    {"output-never-written", Severity::kError, "uninitialised memory is returned", CheckOutputNeverWritten},
    {"extension-binding", Severity::kError, "load_inline binds what its sources do not declare or define",
     CheckExtensionBinding, Force::kReport},
    {"extension-api", Severity::kError, "a name of PyTorch's C++ interface that the source cannot see",
     CheckExtensionApi, Force::kReport},
    {"time-loop-on-host", Severity::kWarning, "one launch or library call per time step",
     CheckTimeLoopOnHost},
    {"grid-misses-parallelism", Severity::kWarning, "independent tiles run one after the other",
     CheckGridMissesParallelism},
    {"scalar-vector-matmul", Severity::kWarning, "a matrix product without tl.dot", CheckScalarVectorMatmul},
    {"unmasked-access", Severity::kWarning, "a block access that may run past the end", CheckUnmaskedAccess},
    {"input-modified", Severity::kWarning, "forward writes into its inputs", CheckInputModified},
    {"precision-downgrade", Severity::kWarning, "half precision where the inputs have more",
     CheckPrecisionDowngrade},
    {"tf32-by-default", Severity::kWarning, "tl.dot rounds float32 to TF32", CheckTf32ByDefault},
    {"library-fallback", Severity::kWarning, "PyTorch's kernels do the work", CheckLibraryFallback},
    {"decoy-kernel", Severity::kWarning, "a kernel whose result is not used", CheckDecoyKernel},
    {"weights-not-transferable", Severity::kWarning,
     "parameters the reference's weights cannot fill (with --task)", CheckWeightsNotTransferable},
    {"autotune-on-stateful-kernel", Severity::kWarning, "tuning repeats a kernel that changes its input",
     CheckAutotuneOnStatefulKernel},
    {"autotune-many-configs", Severity::kWarning, "more configs than tuning is worth",
     CheckAutotuneManyConfigs},
    {"unchecked-launch", Severity::kWarning, "a CUDA launch without an error check", CheckUncheckedLaunch},
    {"uncoalesced-access", Severity::kWarning, "neighbouring lanes far apart in memory",
     CheckUncoalescedAccess},
    {"host-sync-in-forward", Severity::kWarning, "forward waits for the device", CheckHostSyncInForward},
    {"allocation-in-loop", Severity::kWarning, "a tensor allocated per iteration", CheckAllocationInLoop},
    {"timer-tampering", Severity::kWarning, "suspicion: replaces clocks or comparisons", CheckTimerTampering},
    {"process-escape", Severity::kWarning, "suspicion: acts outside its process", CheckProcessEscape},
    {"caches-by-identity", Severity::kWarning, "suspicion: remembers results by address",
     CheckCachesByIdentity},
    {"reads-the-harness", Severity::kWarning, "suspicion: reads the state of the program that runs it",
     CheckReadsTheHarness},
};

}  // namespace

std::span<const CheckInfo> AllChecks() {
  return kChecks;
}

const CheckInfo* FindCheck(std::string_view rule) {
  for (const CheckInfo& check : kChecks)
    if (check.rule == rule) return &check;
  return nullptr;
}

const Finding* FirstWithForce(const std::vector<Finding>& findings, Force least) {
  for (const Finding& finding : findings) {
    if (finding.severity != Severity::kError) continue;
    const CheckInfo* check = FindCheck(finding.rule);
    if (check != nullptr && check->force >= least) return &finding;
  }
  return nullptr;
}

std::string_view ExplainCheck(std::string_view rule) {
  std::string name(rule);
  for (char& c : name)
    if (c == '-') c = '_';
  for (const EmbeddedFile& file : EmbeddedFiles_hone_analysis())
    if (file.name == name + ".md") return file.content;
  return {};
}

}  // namespace hone
