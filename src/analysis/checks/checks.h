// All checks, by name. A check examines a candidate and reports findings; see check.h. registry.cpp lists
// their severities and summaries.
#pragma once

namespace hone {

struct Candidate;
class FindingSink;

void CheckSyntax(const Candidate& candidate, FindingSink* sink);
void CheckMissingModelNew(const Candidate& candidate, FindingSink* sink);
void CheckUnknownTritonOp(const Candidate& candidate, FindingSink* sink);
void CheckArangeNotConstexpr(const Candidate& candidate, FindingSink* sink);
void CheckArangeNotPowerOfTwo(const Candidate& candidate, FindingSink* sink);
void CheckTensorIndexing(const Candidate& candidate, FindingSink* sink);
void CheckUnsupportedStatement(const Candidate& candidate, FindingSink* sink);
void CheckJitCalledFromHost(const Candidate& candidate, FindingSink* sink);
void CheckHostCalledFromJit(const Candidate& candidate, FindingSink* sink);
void CheckNameNotDefined(const Candidate& candidate, FindingSink* sink);
void CheckBadCallArguments(const Candidate& candidate, FindingSink* sink);
void CheckMissingLaunchArgument(const Candidate& candidate, FindingSink* sink);
void CheckDuplicateLaunchArgument(const Candidate& candidate, FindingSink* sink);
void CheckUnknownLaunchArgument(const Candidate& candidate, FindingSink* sink);
void CheckAutotuneRedefined(const Candidate& candidate, FindingSink* sink);
void CheckBadDecoratorArgument(const Candidate& candidate, FindingSink* sink);
void CheckIncompatibleBlockShapes(const Candidate& candidate, FindingSink* sink);
void CheckSharedMemoryOverLimit(const Candidate& candidate, FindingSink* sink);
void CheckRecurrenceRace(const Candidate& candidate, FindingSink* sink);
void CheckMissingSync(const Candidate& candidate, FindingSink* sink);
void CheckOutputNeverWritten(const Candidate& candidate, FindingSink* sink);

void CheckTimeLoopOnHost(const Candidate& candidate, FindingSink* sink);
void CheckGridMissesParallelism(const Candidate& candidate, FindingSink* sink);
void CheckScalarVectorMatmul(const Candidate& candidate, FindingSink* sink);
void CheckUnmaskedAccess(const Candidate& candidate, FindingSink* sink);
void CheckInputModified(const Candidate& candidate, FindingSink* sink);
void CheckPrecisionDowngrade(const Candidate& candidate, FindingSink* sink);
void CheckTf32ByDefault(const Candidate& candidate, FindingSink* sink);
void CheckLibraryFallback(const Candidate& candidate, FindingSink* sink);
void CheckDecoyKernel(const Candidate& candidate, FindingSink* sink);
void CheckWeightsNotTransferable(const Candidate& candidate, FindingSink* sink);
void CheckAutotuneOnStatefulKernel(const Candidate& candidate, FindingSink* sink);
void CheckAutotuneManyConfigs(const Candidate& candidate, FindingSink* sink);
void CheckExtensionApi(const Candidate& candidate, FindingSink* sink);
void CheckExtensionBinding(const Candidate& candidate, FindingSink* sink);
void CheckUncheckedLaunch(const Candidate& candidate, FindingSink* sink);
void CheckUncoalescedAccess(const Candidate& candidate, FindingSink* sink);
void CheckHostSyncInForward(const Candidate& candidate, FindingSink* sink);
void CheckAllocationInLoop(const Candidate& candidate, FindingSink* sink);

void CheckTimerTampering(const Candidate& candidate, FindingSink* sink);
void CheckProcessEscape(const Candidate& candidate, FindingSink* sink);
void CheckCachesByIdentity(const Candidate& candidate, FindingSink* sink);
void CheckReadsTheHarness(const Candidate& candidate, FindingSink* sink);

}  // namespace hone
