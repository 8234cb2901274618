// A TCP connection, plain or under TLS, over sockets and OpenSSL. Every wait ends at its deadline or on
// Ctrl-C. What has arrived is always handed out before the end of the connection, a reset or the deadline is
// reported: a server's last words count, however late this process gets to read them. Certificates are always
// verified.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace hone {

enum class StreamStatus {
  kOk,
  kClosed,  // the other side has sent all it had to send
  kReset,
  kLate,  // the deadline passed
  kInterrupted,
  kNoSuchHost,
  kNoCertificates,      // there is nothing to check a server with
  kRefusedCertificate,  // the server's certificate does not hold
  kNotTls,              // the server answers, but not in TLS
  kFailed,
};

struct StreamResult {
  StreamStatus status = StreamStatus::kOk;
  size_t bytes = 0;     // read, in (0, size] when ok
  std::string message;  // the system's or OpenSSL's words where there are any

  bool ok() const { return status == StreamStatus::kOk; }
};

class ByteStream {
 public:
  ByteStream();
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // Looks the name up and tries its addresses in turn.
  StreamResult Connect(const std::string& host, int port, Deadline deadline);
  // From here on everything is sent and read under TLS with `host`.
  StreamResult StartTls(const std::string& host, Deadline deadline);
  // Waits for at least one byte.
  StreamResult Read(char* into, size_t size, Deadline deadline);
  StreamResult WriteAll(std::string_view bytes, Deadline deadline);
  // After a timeout or Ctrl-C nothing more can be expected of the connection.
  bool open() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone
