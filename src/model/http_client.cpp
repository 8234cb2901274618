#include "model/http_client.h"

#include <fmt/format.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/detail/base64.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <condition_variable>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/text.h"

namespace hone {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kMaxErrorBody = 64 * 1024;
constexpr auto kTick = std::chrono::milliseconds(50);

// getaddrinfo cannot be cancelled, so it runs on a thread that may outlive the call; both sides own this.
struct Lookup {
  std::mutex mutex;
  std::condition_variable ready;
  bool done = false;
  int code = 0;
  std::vector<tcp::endpoint> endpoints;

  void Run(const std::string& host, int port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* found = nullptr;
    const int result = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    std::lock_guard lock(mutex);
    for (const addrinfo* each = found; result == 0 && each != nullptr; each = each->ai_next) {
      tcp::endpoint endpoint;
      if (each->ai_addrlen > endpoint.capacity()) continue;
      std::copy_n(reinterpret_cast<const char*>(each->ai_addr), each->ai_addrlen,
                  reinterpret_cast<char*>(endpoint.data()));
      endpoint.resize(each->ai_addrlen);
      endpoints.push_back(endpoint);
    }
    if (found != nullptr) freeaddrinfo(found);
    code = result;
    done = true;
    ready.notify_all();
  }
};

// Where distributions keep the certificates of authorities. OpenSSL's built-in answer is Debian's only.
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

std::string Base64(const std::string& text) {
  std::string out(boost::beast::detail::base64::encoded_size(text.size()), '\0');
  out.resize(boost::beast::detail::base64::encode(out.data(), text.data(), text.size()));
  return out;
}

class Exchange {
 public:
  Exchange(const HttpPost& post, const HttpLimits& limits, const HttpSink& sink)
      : post_(post),
        limits_(limits),
        sink_(sink),
        total_(Deadline::After(limits.total_seconds)),
        connect_(Deadline::After(limits.connect_seconds)),
        socket_(io_) {}

  HttpAnswer Run() {
    if (Prepare() && Connect()) {
      if (!post_.url.tls)
        Talk(socket_);
      else if ((!proxy_ || Tunnel()) && PrepareTls())
        RunTls();
    }
    return std::move(answer_);
  }

 private:
  // Remembers the first trouble; false, so that a step can end with it.
  bool Fail(HttpTrouble trouble, std::string message) {
    answer_.trouble = trouble;
    answer_.message = std::move(message);
    return false;
  }

  bool FailIo(const error_code& code, const std::string& doing) {
    if (Interrupted()) return Fail(HttpTrouble::kInterrupted, "interrupted");
    if (code == asio::error::timed_out) return Fail(HttpTrouble::kTimeout, doing + ": " + late_);
    if (code.category() == asio::error::get_ssl_category() || code == asio::error::eof ||
        code == http::error::end_of_stream || code == http::error::partial_message ||
        code == asio::ssl::error::stream_truncated || code == asio::error::connection_reset ||
        code == asio::error::broken_pipe)
      return Fail(HttpTrouble::kReset, doing + ": the server closed the connection in the middle");
    if (code.category() == http::make_error_code(http::error::bad_version).category())
      return Fail(HttpTrouble::kProtocol,
                  fmt::format("{}: the answer is not HTTP ({})", doing, code.message()));
    return Fail(HttpTrouble::kUnreachable, fmt::format("{}: {}", doing, code.message()));
  }

  // Starts an asynchronous step and serves it until it ends, the deadline passes or Ctrl-C. A step that was
  // cut short leaves the socket closed and reports timed_out.
  template <class Start>
  error_code Await(Deadline deadline, const char* late, Start start) {
    std::optional<error_code> done;
    start([&done](error_code code, auto&&...) { done = code; });
    while (!done) {
      if (io_.stopped()) io_.restart();
      io_.run_one_for(kTick);
      if (done || !(Interrupted() || deadline.passed() || total_.passed())) continue;
      late_ = deadline.passed() ? late : "the call took longer than allowed";
      error_code ignored;
      socket_.close(ignored);
      while (!done) {
        if (io_.stopped()) io_.restart();
        io_.run_one();
      }
      return asio::error::timed_out;
    }
    return *done;
  }

  Deadline Idle() const { return Deadline::After(limits_.idle_seconds); }

  bool Prepare() {
    Result<std::optional<Url>> proxy = ProxyFor(post_.url);
    if (!proxy.ok()) return Fail(HttpTrouble::kUsage, proxy.error().message);
    proxy_ = *std::move(proxy);
    return true;
  }

  std::string PeerName() const { return proxy_ ? "the proxy " + proxy_->Authority() : post_.url.Authority(); }

  bool Resolve(std::vector<tcp::endpoint>& endpoints) {
    const Url& peer = proxy_ ? *proxy_ : post_.url;
    auto lookup = std::make_shared<Lookup>();
    std::thread([lookup, host = peer.host, port = peer.port] { lookup->Run(host, port); }).detach();
    std::unique_lock lock(lookup->mutex);
    while (!lookup->ready.wait_for(lock, kTick, [&] { return lookup->done; })) {
      if (Interrupted()) return Fail(HttpTrouble::kInterrupted, "interrupted");
      if (connect_.passed())
        return Fail(HttpTrouble::kTimeout, fmt::format("the name {} was not found in {}", peer.host,
                                                       HumanSeconds(limits_.connect_seconds)));
    }
    if (lookup->code != 0)
      return Fail(HttpTrouble::kUnreachable,
                  fmt::format("the host {} cannot be found ({})", peer.host, gai_strerror(lookup->code)));
    endpoints = lookup->endpoints;
    return true;
  }

  bool Connect() {
    std::vector<tcp::endpoint> endpoints;
    if (!Resolve(endpoints)) return false;
    error_code code = asio::error::host_not_found;
    for (size_t i = 0; i < endpoints.size(); ++i) {
      // An address that swallows packets (IPv6 without a route, often) must not use up the time of the next.
      const double share = connect_.seconds_left() / static_cast<double>(endpoints.size() - i);
      error_code ignored;
      socket_.close(ignored);
      code = Await(Deadline::After(share), "no connection in time",
                   [&](auto handler) { socket_.async_connect(endpoints[i], std::move(handler)); });
      if (!code) {
        socket_.set_option(tcp::no_delay(true), ignored);
        return true;
      }
      if (Interrupted()) break;
    }
    return FailIo(code, "cannot reach " + PeerName());
  }

  // Asks the proxy for a tunnel to the server.
  bool Tunnel() {
    const std::string target = fmt::format(
        "{}:{}", Contains(post_.url.host, ":") ? "[" + post_.url.host + "]" : post_.url.host, post_.url.port);
    http::request<http::empty_body> request(http::verb::connect, target, 11);
    request.set(http::field::host, target);
    AddProxyCredentials(request);
    const std::string doing = "asking " + PeerName() + " for a tunnel";
    error_code code = Await(connect_, "no answer in time",
                            [&](auto handler) { http::async_write(socket_, request, std::move(handler)); });
    if (code) return FailIo(code, doing);
    boost::beast::flat_buffer buffer;
    http::response_parser<http::empty_body> parser;
    parser.skip(true);
    code = Await(connect_, "no answer in time",
                 [&](auto handler) { http::async_read_header(socket_, buffer, parser, std::move(handler)); });
    if (code) return FailIo(code, doing);
    if (parser.get().result_int() / 100 != 2)
      return Fail(HttpTrouble::kUnreachable, fmt::format("{} refused a tunnel to {} (HTTP {})", PeerName(),
                                                         post_.url.host, parser.get().result_int()));
    return true;
  }

  template <class Request>
  void AddProxyCredentials(Request& request) const {
    if (!proxy_->userinfo.empty())
      request.set(http::field::proxy_authorization, "Basic " + Base64(proxy_->userinfo));
  }

  bool PrepareTls() {
    // A system's openssl.cnf may load providers made for another libcrypto than the one linked in here.
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    error_code code;
    context_.emplace(asio::ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(context_->native_handle(), TLS1_2_VERSION);
    const std::string file = CertificateFile();
    const char* folder = std::getenv("SSL_CERT_DIR");
    if (!file.empty()) context_->load_verify_file(file, code);
    if (code)
      return Fail(HttpTrouble::kTls,
                  fmt::format("cannot read the certificates in {} ({}); SSL_CERT_FILE names another file",
                              file, code.message()));
    if (folder != nullptr && *folder != '\0')
      context_->add_verify_path(folder, code);
    else if (file.empty())
      return Fail(HttpTrouble::kTls,
                  "this machine has no certificates to check a server with; install ca-certificates or set "
                  "SSL_CERT_FILE to a file that has them");
    context_->set_verify_mode(asio::ssl::verify_peer, code);
    return true;
  }

  void RunTls() {
    asio::ssl::stream<tcp::socket&> stream(socket_, *context_);
    SSL* ssl = stream.native_handle();
    error_code code;
    asio::ip::make_address(post_.url.host, code);
    X509_VERIFY_PARAM* verify = SSL_get0_param(ssl);
    if (!code) {
      X509_VERIFY_PARAM_set1_ip_asc(verify, post_.url.host.c_str());
    } else {
      SSL_set_tlsext_host_name(ssl, post_.url.host.c_str());
      X509_VERIFY_PARAM_set1_host(verify, post_.url.host.c_str(), 0);
    }
    code = Await(connect_, "TLS did not come about in time", [&](auto handler) {
      stream.async_handshake(asio::ssl::stream_base::client, std::move(handler));
    });
    if (code && SSL_get_verify_result(ssl) != X509_V_OK && !Interrupted()) {
      Fail(HttpTrouble::kTls,
           fmt::format("the certificate of {} was refused ({}); if you trust it, set SSL_CERT_FILE to a file "
                       "with the certificate or its authority's",
                       post_.url.Authority(), X509_verify_cert_error_string(SSL_get_verify_result(ssl))));
    } else if (code) {
      const bool plain =
          code.category() == asio::error::get_ssl_category() &&
          ERR_GET_REASON(static_cast<unsigned long>(code.value())) == SSL_R_WRONG_VERSION_NUMBER;
      if (plain)
        Fail(HttpTrouble::kUnreachable,
             post_.url.Authority() + " does not speak TLS; is its address http:// and not https://?");
      else
        FailIo(code, "TLS with " + post_.url.Authority());
    } else {
      Talk(stream);
    }
  }

  template <class Stream>
  void Talk(Stream& stream) {
    const bool through_proxy = proxy_ && !post_.url.tls;
    http::request<http::string_body> request(http::verb::post,
                                             through_proxy ? post_.url.Display() : post_.url.path, 11);
    request.set(http::field::host, post_.url.Authority());
    request.set(http::field::user_agent, "hone/" HONE_VERSION);
    request.set(http::field::connection, "close");
    for (const auto& [name, value] : post_.headers) request.set(name, value);
    if (through_proxy) AddProxyCredentials(request);
    request.body() = post_.body;
    request.prepare_payload();
    const error_code sent = Await(Idle(), "the server took no more of the request", [&](auto handler) {
      http::async_write(stream, request, std::move(handler));
    });
    // A server may refuse a request before it has read it all; its answer is then worth more than the reset.
    if (sent && socket_.is_open() && ReadAnswer(stream) && answer_.status != 0) return;
    if (sent)
      FailIo(sent, "sending to " + post_.url.Authority());
    else
      ReadAnswer(stream);
  }

  template <class Stream>
  bool ReadAnswer(Stream& stream) {
    const std::string doing = "reading from " + post_.url.Authority();
    boost::beast::flat_buffer buffer;
    std::optional<http::response_parser<http::buffer_body>> parser;
    do {
      parser.emplace();
      // Beast 1.74 takes boost::none for a limit of nothing where the length is told.
      parser->body_limit(std::numeric_limits<uint64_t>::max());
      parser->header_limit(64 * 1024);
      const error_code code = Await(Idle(), LateWords(), [&](auto handler) {
        http::async_read_header(stream, buffer, *parser, std::move(handler));
      });
      if (code) return FailIo(code, doing);
    } while (parser->get().result_int() / 100 == 1);
    answer_.status = static_cast<int>(parser->get().result_int());
    for (const auto& field : parser->get())
      answer_.headers[ToLower(std::string(field.name_string()))] = std::string(field.value());

    std::vector<char> piece(32 * 1024);
    while (!parser->is_done()) {
      parser->get().body().data = piece.data();
      parser->get().body().size = piece.size();
      parser->get().body().more = true;
      error_code code = Await(Idle(), LateWords(), [&](auto handler) {
        http::async_read_some(stream, buffer, *parser, std::move(handler));
      });
      const std::string_view text(piece.data(), piece.size() - parser->get().body().size);
      if (!Take(text)) return false;
      if (code == http::error::need_buffer) code = {};
      if (code == asio::ssl::error::stream_truncated && parser->need_eof()) break;
      if (code) return FailIo(code, doing);
      if (answer_.status / 100 != 2 && answer_.body.size() >= kMaxErrorBody) break;
    }
    return true;
  }

  const char* LateWords() {
    late_words_ = "nothing came for " + HumanSeconds(limits_.idle_seconds);
    return late_words_.c_str();
  }

  bool Take(std::string_view text) {
    if (answer_.status / 100 != 2) {
      answer_.body.append(text.substr(0, kMaxErrorBody - std::min(kMaxErrorBody, answer_.body.size())));
      return true;
    }
    if (text.empty() || sink_(answer_, text)) return true;
    return Fail(HttpTrouble::kStopped, "stopped");
  }

  const HttpPost& post_;
  const HttpLimits& limits_;
  const HttpSink& sink_;
  const Deadline total_;
  const Deadline connect_;
  std::optional<Url> proxy_;
  std::string late_;
  std::string late_words_;
  HttpAnswer answer_;
  asio::io_context io_;
  std::optional<asio::ssl::context> context_;
  tcp::socket socket_;
};

}  // namespace

HttpAnswer Post(const HttpPost& post, const HttpLimits& limits, const HttpSink& sink) {
  // Asio reports some failures by exceptions only (no descriptors left, no memory for a context).
  try {
    return Exchange(post, limits, sink).Run();
  } catch (const std::exception& trouble) {
    HttpAnswer answer;
    answer.trouble = HttpTrouble::kUnreachable;
    answer.message = fmt::format("cannot talk to {}: {}", post.url.Authority(), trouble.what());
    return answer;
  }
}

}  // namespace hone
