#include "process/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/interrupt.h"

namespace hone {

namespace {

constexpr char kMagic[4] = {'H', 'N', 'E', '1'};
constexpr size_t kMaxBody = 64u << 20;

struct Header {
  char magic[4];
  uint32_t descriptors;
  uint64_t body_size;
};

// Waits until the descriptor is readable. Returns Ok, kTimeout or kInterrupted.
Status WaitReadable(int fd, Deadline deadline) {
  while (true) {
    pollfd polls[2] = {{fd, POLLIN, 0}, {InterruptFd(), POLLIN, 0}};
    const int ready = poll(polls, 2, deadline.poll_ms());
    if (ready < 0 && errno != EINTR) return ErrnoError("cannot wait for a worker");
    if (Interrupted()) return InterruptedError();
    if (ready > 0 && polls[0].revents != 0) return Ok();
    if (deadline.passed()) return Error{ErrorKind::kTimeout, "no answer in time"};
  }
}

}  // namespace

namespace {

// Reads available bytes and the sender's credentials. The control buffer has no space for a descriptor.
ssize_t ReceiveWithSender(int fd, char* data, size_t size, pid_t* sender) {
  iovec part{data, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  if (got <= 0) return got;
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_CREDENTIALS) continue;
    ucred credentials{};
    std::memcpy(&credentials, CMSG_DATA(one), sizeof credentials);
    *sender = credentials.pid;
  }
  return got;
}

}  // namespace

Result<Channel::Pair> Channel::MakePair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return ErrnoError("cannot make a socket pair");
  const int on = 1;
  setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  return Pair{Channel(UniqueFd(ends[0])), UniqueFd(ends[1])};
}

Result<int64_t> Channel::Send(const Json& body, const std::vector<int>& descriptors, Deadline deadline) {
  const std::string text = DumpJson(body);
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.descriptors = static_cast<uint32_t>(descriptors.size());
  header.body_size = text.size();
  std::string frame(reinterpret_cast<const char*>(&header), sizeof header);
  frame += text;

  iovec part{frame.data(), frame.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
  if (!descriptors.empty()) {
    if (descriptors.size() > 8) return Error{ErrorKind::kInternal, "too many descriptors in one message"};
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* attached = CMSG_FIRSTHDR(&message);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(attached), descriptors.data(), descriptors.size() * sizeof(int));
  }
  const int64_t sent_ns = NowNs();
  while (part.iov_len != 0) {
    const ssize_t put = sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) {
      // A peer that does not read must not block Hone for ever.
      pollfd polls[2] = {{fd_.get(), POLLOUT, 0}, {InterruptFd(), POLLIN, 0}};
      poll(polls, 2, deadline.poll_ms());
      if (Interrupted()) return InterruptedError();
      if (deadline.passed()) return Error{ErrorKind::kTimeout, "the worker does not read"};
      continue;
    }
    if (put < 0 && (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN))
      return Error{ErrorKind::kNotFound, "the worker is gone"};
    if (put < 0 && errno == ETOOMANYREFS)
      return Error{ErrorKind::kUnavailable,
                   "the kernel passes on no descriptor, because other programs of this user have too many on "
                   "their way in sockets; a higher `ulimit -n` for hone allows more"};
    if (put < 0) {
      Error error = ErrnoError("cannot send a message to a worker");
      error.kind = ErrorKind::kUnavailable;
      return error;
    }
    part.iov_base = static_cast<char*>(part.iov_base) + put;
    part.iov_len -= static_cast<size_t>(put);
    message.msg_control = nullptr;  // descriptors are sent with the first byte only
    message.msg_controllen = 0;
  }
  return sent_ns;
}

// `first` receives the arrival time of the first byte and its sender.
Status Channel::ReadExactly(char* data, size_t size, Deadline deadline, Message* first) {
  while (size != 0) {
    HONE_RETURN_IF_ERROR(WaitReadable(fd_.get(), deadline));
    const bool is_first = first != nullptr && first->received_ns == 0;
    if (is_first) first->received_ns = NowNs();
    // Neither call accepts a descriptor that a hostile peer attached.
    const ssize_t got =
        is_first ? ReceiveWithSender(fd_.get(), data, size, &first->sender) : recv(fd_.get(), data, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{ErrorKind::kNotFound, "the worker is gone"};
    data += got;
    size -= static_cast<size_t>(got);
  }
  return Ok();
}

Result<Message> Channel::Receive(Deadline deadline) {
  Header header{};
  Message message;
  HONE_RETURN_IF_ERROR(ReadExactly(reinterpret_cast<char*>(&header), sizeof header, deadline, &message));
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.descriptors != 0 ||
      header.body_size > kMaxBody)
    return Error{ErrorKind::kInvalid, "the worker's channel carried something that is not a frame"};
  std::string text(header.body_size, '\0');
  HONE_RETURN_IF_ERROR(ReadExactly(text.data(), text.size(), deadline, nullptr));
  Result<Json> body = ParseJson(text);
  if (!body.ok() || !body->is_object())
    return Error{ErrorKind::kInvalid, "the worker's channel carried a frame that is not JSON"};
  message.body = std::move(*body);
  return message;
}

Result<UniqueFd> Channel::ReceiveDescriptor(Deadline deadline) {
  HONE_RETURN_IF_ERROR(WaitReadable(fd_.get(), deadline));
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC);
  int descriptor = -1;
  for (cmsghdr* one = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr; one != nullptr;
       one = CMSG_NXTHDR(&message, one))
    if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_RIGHTS)
      std::memcpy(&descriptor, CMSG_DATA(one), sizeof descriptor);
  if (descriptor < 0) return Error{ErrorKind::kInvalid, "no descriptor arrived"};
  return UniqueFd(descriptor);
}

bool SendDescriptor(int socket, int descriptor) {
  char byte = 'd';
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* attached = CMSG_FIRSTHDR(&message);
  attached->cmsg_level = SOL_SOCKET;
  attached->cmsg_type = SCM_RIGHTS;
  attached->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(attached), &descriptor, sizeof descriptor);
  return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

}  // namespace hone
