// Ctrl-C as a value: the handler sets a flag and makes a descriptor readable, and every wait in Hone
// watches that descriptor, so that an interrupted run unwinds normally, kills its children and keeps
// what it has. A second Ctrl-C is not special; nothing here exits by itself.
#pragma once

#include "base/result.h"

namespace hone {

// SIGINT, SIGTERM and SIGHUP. Ignores SIGPIPE. Call once, early in main.
void InstallInterruptHandler();
bool Interrupted();
// Readable for ever once interrupted; -1 when no handler is installed.
int InterruptFd();
Error InterruptedError();
// Unwinds like Ctrl-C: the time that the whole work may take is over.
Error OutOfTimeError();
// Sleeps, or returns early (false) when interrupted.
bool SleepUnlessInterrupted(double seconds);

}  // namespace hone
