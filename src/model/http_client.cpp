#include "model/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/text.h"
#include "model/answer_parser.h"
#include "model/byte_stream.h"

namespace hone {

namespace {

constexpr size_t kMaxErrorBody = 64 * 1024;
constexpr size_t kPieceBytes = 32 * 1024;

// A value with a line end would become two headers.
bool IsHeaderText(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

class Exchange {
 public:
  Exchange(const HttpPost& post, const HttpLimits& limits, const HttpSink& sink)
      : post_(post),
        limits_(limits),
        sink_(sink),
        total_(Deadline::After(limits.total_seconds)),
        connect_(Deadline::After(limits.connect_seconds)) {}

  HttpAnswer Run() {
    if (Prepare() && Connect() && (!post_.url.tls || ((!proxy_ || Tunnel()) && StartTls()))) Talk();
    return std::move(answer_);
  }

 private:
  // Records the first problem. Returns false, so that a step can end with it.
  bool Fail(HttpTrouble trouble, std::string message) {
    answer_.trouble = trouble;
    answer_.message = std::move(message);
    return false;
  }

  bool FailIo(const StreamResult& result, const std::string& doing, const std::string& late) {
    switch (result.status) {
      case StreamStatus::kInterrupted:
        return Fail(HttpTrouble::kInterrupted, "interrupted");
      case StreamStatus::kLate:
        return Fail(HttpTrouble::kTimeout,
                    doing + ": " + (total_.passed() ? "the call took longer than allowed" : late));
      case StreamStatus::kClosed:
      case StreamStatus::kReset:
        return Fail(HttpTrouble::kReset, doing + ": the server closed the connection in the middle");
      default:
        return Fail(HttpTrouble::kUnreachable, fmt::format("{}: {}", doing, result.message));
    }
  }

  // No step may last longer than the whole call.
  Deadline Sooner(Deadline deadline) const {
    return total_.seconds_left() < deadline.seconds_left() ? total_ : deadline;
  }
  Deadline Idle() const { return Sooner(Deadline::After(limits_.idle_seconds)); }

  bool Prepare() {
    Result<std::optional<Url>> proxy = ProxyFor(post_.url);
    if (!proxy.ok()) return Fail(HttpTrouble::kUsage, proxy.error().message);
    proxy_ = *std::move(proxy);
    for (const auto& [name, value] : post_.headers)
      if (!IsHeaderText(name) || !IsHeaderText(value))
        return Fail(HttpTrouble::kUsage, fmt::format("the header {} has a line end in it", ValidUtf8(name)));
    return true;
  }

  const Url& Peer() const { return proxy_ ? *proxy_ : post_.url; }
  std::string PeerName() const { return proxy_ ? "the proxy " + proxy_->Authority() : post_.url.Authority(); }

  bool Connect() {
    const StreamResult result = stream_.Connect(Peer().host, Peer().port, Sooner(connect_));
    if (result.ok()) return true;
    if (result.status == StreamStatus::kNoSuchHost && result.message.empty())
      return Fail(HttpTrouble::kTimeout, fmt::format("the name {} was not found in {}", Peer().host,
                                                     HumanSeconds(limits_.connect_seconds)));
    if (result.status == StreamStatus::kNoSuchHost)
      return Fail(HttpTrouble::kUnreachable,
                  fmt::format("the host {} cannot be found ({})", Peer().host, result.message));
    return FailIo(result, "cannot reach " + PeerName(), "no connection in time");
  }

  std::string ProxyCredentials() const {
    if (proxy_->userinfo.empty()) return "";
    return "Proxy-Authorization: Basic " + Base64(proxy_->userinfo) + "\r\n";
  }

  // Requests a tunnel to the server from the proxy.
  bool Tunnel() {
    const std::string target = fmt::format(
        "{}:{}", Contains(post_.url.host, ":") ? "[" + post_.url.host + "]" : post_.url.host, post_.url.port);
    const std::string doing = "asking " + PeerName() + " for a tunnel";
    const char* late = "no answer in time";
    const StreamResult sent = stream_.WriteAll(
        fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n{1}\r\n", target, ProxyCredentials()),
        Sooner(connect_));
    if (!sent.ok()) return FailIo(sent, doing, late);
    AnswerParser parser([](const AnswerParser&, std::string_view) { return true; }, true);
    AnswerParser::State state = AnswerParser::State::kMore;
    while (state == AnswerParser::State::kMore) {
      // Reads single bytes, because all data after the proxy's response belongs to TLS.
      char byte = 0;
      const StreamResult read = stream_.Read(&byte, 1, Sooner(connect_));
      if (!read.ok()) return FailIo(read, doing, late);
      state = parser.Feed({&byte, 1});
    }
    if (state == AnswerParser::State::kNotHttp) return FailProtocol(parser, doing);
    if (parser.status() / 100 != 2)
      return Fail(HttpTrouble::kUnreachable, fmt::format("{} refused a tunnel to {} (HTTP {})", PeerName(),
                                                         post_.url.host, parser.status()));
    return true;
  }

  bool FailProtocol(const AnswerParser& parser, const std::string& doing) {
    return Fail(HttpTrouble::kProtocol,
                fmt::format("{}: the answer is not HTTP ({})", doing, parser.trouble()));
  }

  bool StartTls() {
    const StreamResult result = stream_.StartTls(post_.url.host, Sooner(connect_));
    switch (result.status) {
      case StreamStatus::kOk:
        return true;
      case StreamStatus::kNoCertificates:
        return Fail(HttpTrouble::kTls, result.message);
      case StreamStatus::kRefusedCertificate:
        return Fail(
            HttpTrouble::kTls,
            fmt::format("the certificate of {} was refused ({}); if you trust it, set SSL_CERT_FILE to a "
                        "file with the certificate or its authority's",
                        post_.url.Authority(), result.message));
      case StreamStatus::kNotTls:
        return Fail(HttpTrouble::kUnreachable,
                    post_.url.Authority() + " does not speak TLS; is its address http:// and not https://?");
      default:
        return FailIo(result, "TLS with " + post_.url.Authority(), "TLS did not come about in time");
    }
  }

  void Talk() {
    const bool through_proxy = proxy_ && !post_.url.tls;
    std::string request = fmt::format("POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: hone/" HONE_VERSION
                                      "\r\nConnection: close\r\nContent-Length: {}\r\n",
                                      through_proxy ? post_.url.Display() : post_.url.path,
                                      post_.url.Authority(), post_.body.size());
    for (const auto& [name, value] : post_.headers) request += fmt::format("{}: {}\r\n", name, value);
    if (through_proxy) request += ProxyCredentials();
    request += "\r\n" + post_.body;
    const StreamResult sent = stream_.WriteAll(request, Idle());
    answer_.request_sent = sent.ok();
    // A server may reject a request before it has read all of it. Its response is then more useful than the
    // reset.
    if (!sent.ok() && stream_.open() && ReadAnswer() && answer_.status != 0) return;
    if (sent.ok())
      ReadAnswer();
    else
      FailIo(sent, "sending to " + post_.url.Authority(), "the server took no more of the request");
  }

  bool ReadAnswer() {
    using State = AnswerParser::State;
    const std::string doing = "reading from " + post_.url.Authority();
    AnswerParser parser([this](const AnswerParser& answer, std::string_view piece) {
      TakeHead(answer);
      return Take(piece);
    });
    std::string piece(kPieceBytes, '\0');
    State state = State::kMore;
    while (state == State::kMore) {
      const StreamResult read = stream_.Read(piece.data(), piece.size(), Idle());
      if (read.ok())
        state = parser.Feed(std::string_view(piece).substr(0, read.bytes));
      else if (read.status == StreamStatus::kClosed)
        state = parser.End();
      TakeHead(parser);
      if (!read.ok() && read.status != StreamStatus::kClosed)
        return FailIo(read, doing, "nothing came for " + HumanSeconds(limits_.idle_seconds));
    }
    switch (state) {
      case State::kNotHttp:
        return FailProtocol(parser, doing);
      case State::kCutOff:
        return FailIo({StreamStatus::kClosed, 0, ""}, doing, "");
      case State::kStopped:
        return answer_.status / 100 == 2 ? Fail(HttpTrouble::kStopped, "stopped") : true;
      default:
        return true;
    }
  }

  void TakeHead(const AnswerParser& parser) {
    if (answer_.status != 0 || parser.status() / 100 <= 1) return;
    answer_.status = parser.status();
    answer_.headers = parser.headers();
  }

  bool Take(std::string_view piece) {
    if (answer_.status / 100 == 2) return sink_(answer_, piece);
    answer_.body.append(piece.substr(0, kMaxErrorBody - answer_.body.size()));
    return answer_.body.size() < kMaxErrorBody;
  }

  const HttpPost& post_;
  const HttpLimits& limits_;
  const HttpSink& sink_;
  const Deadline total_;
  const Deadline connect_;
  std::optional<Url> proxy_;
  HttpAnswer answer_;
  ByteStream stream_;
};

}  // namespace

HttpAnswer Post(const HttpPost& post, const HttpLimits& limits, const HttpSink& sink) {
  // The resolver thread may fail to start, and memory may be exhausted.
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
