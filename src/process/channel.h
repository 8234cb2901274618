// Framed messages over a socket pair: a fixed header, a JSON text, and up to 8 descriptors. Nothing is
// ever unpickled or evaluated. A peer that sends nonsense, too much or nothing only ends its own channel.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace hone {

struct Message {
  Json body;
  int64_t received_ns = 0;  // the host's clock at the moment the header arrived
  pid_t sender = 0;         // the process that sent it, as the kernel reports it
};

class Channel {
 public:
  struct Pair;
  static Result<Pair> MakePair();
  Channel() = default;
  explicit Channel(UniqueFd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  // Returns the host's clock just before the first byte left.
  Result<int64_t> Send(const Json& body, const std::vector<int>& descriptors = {},
                       Deadline deadline = Deadline::After(60));
  // kNotFound: the peer closed. kInvalid: not a frame. kTimeout: the deadline. kInterrupted: Ctrl-C.
  Result<Message> Receive(Deadline deadline);
  // A descriptor sent by the peer (the sandbox helper sends one).
  Result<UniqueFd> ReceiveDescriptor(Deadline deadline);
  void Close() { fd_.Close(); }

 private:
  Status ReadExactly(char* data, size_t size, Deadline deadline, Message* first);
  UniqueFd fd_;
};

struct Channel::Pair {
  Channel ours;
  UniqueFd theirs;
};

// One byte with a descriptor attached; used by the sandbox helper before it becomes the worker.
bool SendDescriptor(int socket, int descriptor);

}  // namespace hone
