#include "model/byte_stream.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/interrupt.h"

namespace hone {

namespace {

constexpr auto kTick = std::chrono::milliseconds(50);

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

// getaddrinfo cannot be cancelled, so it runs on a thread that may outlive the call. Both sides share
// ownership of this.
struct Lookup {
  std::mutex mutex;
  std::condition_variable ready;
  bool done = false;
  int code = 0;
  std::vector<Address> addresses;

  void Run(const std::string& host, int port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* found = nullptr;
    const int result = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    std::lock_guard lock(mutex);
    for (const addrinfo* each = found; result == 0 && each != nullptr; each = each->ai_next) {
      Address address;
      if (each->ai_addrlen > sizeof address.storage) continue;
      std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
      address.size = each->ai_addrlen;
      addresses.push_back(address);
    }
    if (found != nullptr) freeaddrinfo(found);
    code = result;
    done = true;
    ready.notify_all();
  }
};

// The paths of certificate authorities in common distributions. OpenSSL's default is only Debian's.
std::string CertificateFile() {
  if (const char* chosen = std::getenv("SSL_CERT_FILE"); chosen != nullptr && *chosen != '\0') return chosen;
  for (const char* path :
       {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return "";
}

StreamResult Failure(StreamStatus status, std::string message = "") {
  return {status, 0, std::move(message)};
}

StreamResult FromErrno(int code) {
  if (code == ECONNRESET || code == EPIPE) return Failure(StreamStatus::kReset);
  return Failure(StreamStatus::kFailed, std::strerror(code));
}

// OpenSSL's own socket BIO writes without MSG_NOSIGNAL, so a server that disconnects would kill this process.
int SendForTls(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const auto fd = static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio)));
  const ssize_t sent = send(fd, bytes, static_cast<size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int ReceiveForTls(BIO* bio, char* into, int size) {
  BIO_clear_retry_flags(bio);
  const auto fd = static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio)));
  const ssize_t received = recv(fd, into, static_cast<size_t>(size), 0);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  if (received == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(received);
}

long ControlForTls(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO* MakeSocketBio(int fd) {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "hone socket");
    BIO_meth_set_write(made, SendForTls);
    BIO_meth_set_read(made, ReceiveForTls);
    BIO_meth_set_ctrl(made, ControlForTls);
    return made;
  }();
  BIO* bio = BIO_new(method);
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  BIO_set_init(bio, 1);
  return bio;
}

bool IsIpAddress(const std::string& host) {
  in6_addr ignored;
  return inet_pton(AF_INET, host.c_str(), &ignored) == 1 || inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

std::string LastTlsError() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "" : reason;
}

}  // namespace

struct ByteStream::State {
  int fd = -1;
  SSL_CTX* context = nullptr;
  SSL* ssl = nullptr;

  ~State() {
    SSL_free(ssl);
    SSL_CTX_free(context);
    Close();
  }

  void Close() {
    if (fd >= 0) close(fd);
    fd = -1;
  }

  // Waits until the socket is ready, the deadline passes or Ctrl-C. poll(2) checks the socket before the
  // clock, so that a delay of this process does not count against the server.
  StreamResult Wait(short events, Deadline deadline) {
    pollfd polled[2] = {{fd, events, 0}, {InterruptFd(), POLLIN, 0}};
    while (true) {
      const int ready = poll(polled, 2, deadline.poll_ms());
      if (Interrupted()) return GiveUp(StreamStatus::kInterrupted);
      if (ready > 0 && polled[0].revents != 0) return {};
      if (ready == 0 && deadline.passed()) return GiveUp(StreamStatus::kLate);
      if (ready < 0 && errno != EINTR) return FromErrno(errno);
    }
  }

  StreamResult GiveUp(StreamStatus status) {
    Close();
    return Failure(status);
  }

  StreamResult ConnectTo(const Address& address, Deadline deadline) {
    Close();
    fd = socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return FromErrno(errno);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0) {
      if (errno != EINPROGRESS && errno != EINTR) return FromErrno(errno);
      if (StreamResult waited = Wait(POLLOUT, deadline); !waited.ok()) return waited;
      int code = 0;
      socklen_t size = sizeof code;
      getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size);
      if (code != 0) return FromErrno(code);
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return {};
  }

  // `step` is an OpenSSL call that returns > 0 on success.
  template <class Step>
  StreamResult RunTls(Deadline deadline, Step step) {
    while (true) {
      ERR_clear_error();
      errno = 0;
      const int result = step();
      if (result > 0) return {StreamStatus::kOk, static_cast<size_t>(result), ""};
      const int system = errno;
      switch (SSL_get_error(ssl, result)) {
        case SSL_ERROR_WANT_READ:
          if (StreamResult waited = Wait(POLLIN, deadline); !waited.ok()) return waited;
          break;
        case SSL_ERROR_WANT_WRITE:
          if (StreamResult waited = Wait(POLLOUT, deadline); !waited.ok()) return waited;
          break;
        case SSL_ERROR_ZERO_RETURN:
          return Failure(StreamStatus::kClosed);
        case SSL_ERROR_SYSCALL:
          return system == 0 ? Failure(StreamStatus::kClosed) : FromErrno(system);
        default:
          // Many servers close without TLS's close_notify. HTTP decides whether that was too early.
          if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
            return Failure(StreamStatus::kClosed);
          return Failure(StreamStatus::kReset, LastTlsError());
      }
    }
  }

  StreamResult PrepareTls() {
    // A system's openssl.cnf may load providers made for another libcrypto than the one linked here.
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    ERR_clear_error();
    context = SSL_CTX_new(TLS_client_method());
    if (context == nullptr) return Failure(StreamStatus::kFailed, LastTlsError());
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    const std::string file = CertificateFile();
    const char* folder = std::getenv("SSL_CERT_DIR");
    if (!file.empty() && SSL_CTX_load_verify_locations(context, file.c_str(), nullptr) != 1)
      return Failure(StreamStatus::kNoCertificates,
                     fmt::format("cannot read the certificates in {} ({}); SSL_CERT_FILE names another file",
                                 file, LastTlsError()));
    if (folder != nullptr && *folder != '\0')
      SSL_CTX_load_verify_locations(context, nullptr, folder);
    else if (file.empty())
      return Failure(StreamStatus::kNoCertificates,
                     "this machine has no certificates to check a server with; install ca-certificates or "
                     "set SSL_CERT_FILE to a file that has them");
    return {};
  }
};

ByteStream::ByteStream() : state_(std::make_unique<State>()) {}
ByteStream::~ByteStream() = default;

bool ByteStream::open() const {
  return state_->fd >= 0;
}

StreamResult ByteStream::Connect(const std::string& host, int port, Deadline deadline) {
  auto lookup = std::make_shared<Lookup>();
  std::thread([lookup, host, port] { lookup->Run(host, port); }).detach();
  {
    std::unique_lock lock(lookup->mutex);
    while (!lookup->ready.wait_for(lock, kTick, [&] { return lookup->done; })) {
      if (Interrupted()) return Failure(StreamStatus::kInterrupted);
      if (deadline.passed()) return Failure(StreamStatus::kNoSuchHost);
    }
  }
  if (lookup->code != 0) return Failure(StreamStatus::kNoSuchHost, gai_strerror(lookup->code));
  StreamResult last = Failure(StreamStatus::kNoSuchHost, "it has no address");
  const std::vector<Address>& addresses = lookup->addresses;
  for (size_t i = 0; i < addresses.size(); ++i) {
    // An unreachable address (often IPv6 without a route) must not use up the time of the next one.
    const double share = deadline.seconds_left() / static_cast<double>(addresses.size() - i);
    last = state_->ConnectTo(addresses[i], Deadline::After(share));
    if (last.ok() || last.status == StreamStatus::kInterrupted) break;
  }
  return last;
}

StreamResult ByteStream::StartTls(const std::string& host, Deadline deadline) {
  if (StreamResult prepared = state_->PrepareTls(); !prepared.ok()) return prepared;
  SSL* ssl = state_->ssl = SSL_new(state_->context);
  if (ssl == nullptr) return Failure(StreamStatus::kFailed, LastTlsError());
  BIO* bio = MakeSocketBio(state_->fd);
  SSL_set_bio(ssl, bio, bio);
  X509_VERIFY_PARAM* verify = SSL_get0_param(ssl);
  if (IsIpAddress(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(verify, host.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl, host.c_str());
    X509_VERIFY_PARAM_set1_host(verify, host.c_str(), 0);
  }
  StreamResult result = state_->RunTls(deadline, [ssl] { return SSL_connect(ssl); });
  if (result.ok() || result.status == StreamStatus::kInterrupted) return result;
  if (const long verdict = SSL_get_verify_result(ssl); verdict != X509_V_OK)
    return Failure(StreamStatus::kRefusedCertificate, X509_verify_cert_error_string(verdict));
  if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_WRONG_VERSION_NUMBER)
    return Failure(StreamStatus::kNotTls);
  return result;
}

StreamResult ByteStream::Read(char* into, size_t size, Deadline deadline) {
  State& state = *state_;
  if (!open()) return Failure(StreamStatus::kReset);
  if (state.ssl != nullptr)
    return state.RunTls(deadline, [&] { return SSL_read(state.ssl, into, static_cast<int>(size)); });
  while (true) {
    const ssize_t received = recv(state.fd, into, size, 0);
    if (received > 0) return {StreamStatus::kOk, static_cast<size_t>(received), ""};
    if (received == 0) return Failure(StreamStatus::kClosed);
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return FromErrno(errno);
    if (StreamResult waited = state.Wait(POLLIN, deadline); !waited.ok()) return waited;
  }
}

StreamResult ByteStream::WriteAll(std::string_view bytes, Deadline deadline) {
  State& state = *state_;
  if (!open()) return Failure(StreamStatus::kReset);
  while (!bytes.empty()) {
    if (state.ssl != nullptr) {
      constexpr size_t kMostAtOnce = 1 << 20;
      const auto size = static_cast<int>(std::min(bytes.size(), kMostAtOnce));
      StreamResult written = state.RunTls(deadline, [&] { return SSL_write(state.ssl, bytes.data(), size); });
      if (!written.ok()) return written;
      bytes.remove_prefix(written.bytes);
      continue;
    }
    const ssize_t sent = send(state.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      if (StreamResult waited = state.Wait(POLLOUT, deadline); !waited.ok()) return waited;
    } else if (errno != EINTR) {
      return FromErrno(errno);
    }
  }
  return {};
}

}  // namespace hone
