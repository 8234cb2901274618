// Turns Ctrl-C into a value. The handler sets a flag and makes a descriptor readable. Every wait in Hone
// watches that descriptor, so an interrupted run unwinds normally, kills its children and keeps its results.
// A second Ctrl-C does nothing more. Nothing here exits by itself.
#pragma once

#include "base/result.h"

namespace hone {

// Handles SIGINT, SIGTERM and SIGHUP, and ignores SIGPIPE. Call it once, early in main.
void InstallInterruptHandler();
bool Interrupted();
// Stays readable once interrupted; -1 if no handler is installed.
int InterruptFd();
Error InterruptedError();
// The error when the time limit of the whole run is over. It unwinds like Ctrl-C.
Error OutOfTimeError();
// Sleeps. Returns false early if interrupted.
bool SleepUnlessInterrupted(double seconds);

}  // namespace hone
