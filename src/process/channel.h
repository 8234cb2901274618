// Framed messages over a socket pair: a fixed header, a JSON text, and up to 8 descriptors. Nothing is
// unpickled or evaluated. A peer that sends malformed, oversized or no data only ends its own channel.
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
  int64_t received_ns = 0;  // the host's clock when the header arrived
  pid_t sender = 0;         // the sending process, as the kernel reports it
};

class Channel {
 public:
  struct Pair;
  static Result<Pair> MakePair();
  Channel() = default;
  explicit Channel(UniqueFd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  // Returns the host's clock just before the first byte was sent. kNotFound: the peer closed. kUnavailable:
  // the kernel refuses, whatever the peer does.
  Result<int64_t> Send(const Json& body, const std::vector<int>& descriptors = {},
                       Deadline deadline = Deadline::After(60));
  // kNotFound: the peer closed. kInvalid: the data is no frame. kTimeout: the deadline passed. kInterrupted:
  // Ctrl-C.
  Result<Message> Receive(Deadline deadline);
  // Receives a descriptor from the peer (the sandbox helper sends one).
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

// Sends one byte with a descriptor attached. The sandbox helper uses it before it becomes the worker.
bool SendDescriptor(int socket, int descriptor);

}  // namespace hone
