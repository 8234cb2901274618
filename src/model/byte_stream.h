// A TCP connection, plain or with TLS, on sockets and OpenSSL. Every wait ends at its deadline or on Ctrl-C.
// Received data is always returned before the end of the connection, a reset or the deadline is reported, so
// that a server's last bytes count however late this process reads them. Certificates are always verified.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace hone {

enum class StreamStatus {
  kOk,
  kClosed,  // the other side has sent all its data
  kReset,
  kLate,  // the deadline passed
  kInterrupted,
  kNoSuchHost,
  kNoCertificates,      // there are no certificates to verify a server with
  kRefusedCertificate,  // the server's certificate is invalid
  kNotTls,              // the server responds, but not in TLS
  kFailed,
};

struct StreamResult {
  StreamStatus status = StreamStatus::kOk;
  size_t bytes = 0;     // read, in (0, size] when ok
  std::string message;  // the system's or OpenSSL's message if there is one

  bool ok() const { return status == StreamStatus::kOk; }
};

class ByteStream {
 public:
  ByteStream();
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // Resolves the name and tries its addresses in turn.
  StreamResult Connect(const std::string& host, int port, Deadline deadline);
  // From now on all data is sent and received with TLS for `host`.
  StreamResult StartTls(const std::string& host, Deadline deadline);
  // Waits for at least one byte.
  StreamResult Read(char* into, size_t size, Deadline deadline);
  StreamResult WriteAll(std::string_view bytes, Deadline deadline);
  // False after a timeout or Ctrl-C, when the connection cannot be used any more.
  bool open() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone
