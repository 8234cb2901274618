#include "dashboard/request_reader.h"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace hone {

namespace http = boost::beast::http;

struct RequestReader::Parser {
  http::request_parser<http::string_body> http;
};

RequestReader::RequestReader(size_t most_head_bytes, size_t most_body_bytes)
    : most_head_bytes_(most_head_bytes), most_body_bytes_(most_body_bytes) {
  (void)Next();
}
RequestReader::~RequestReader() = default;
RequestReader::RequestReader(RequestReader&&) noexcept = default;

RequestReader::State RequestReader::Next() {
  parser_ = std::make_unique<Parser>();
  parser_->http.header_limit(static_cast<uint32_t>(most_head_bytes_));
  parser_->http.body_limit(most_body_bytes_);
  parser_->http.eager(true);
  return bytes_.empty() ? State::kNeedsMore : Parse();
}

RequestReader::State RequestReader::Feed(std::string_view bytes) {
  bytes_.append(bytes);
  return Parse();
}

RequestReader::State RequestReader::Refuse(int status, std::string why) {
  refusal_ = status;
  why_ = std::move(why);
  return State::kBad;
}

RequestReader::State RequestReader::Parse() {
  while (!parser_->http.is_done()) {
    boost::system::error_code code;
    const size_t used = parser_->http.put(boost::asio::const_buffer(bytes_.data(), bytes_.size()), code);
    bytes_.erase(0, used);
    if (code == http::error::need_more) return State::kNeedsMore;
    if (code)
      return Refuse(code == http::error::body_limit     ? 413
                    : code == http::error::header_limit ? 431
                                                        : 400,
                    "the request cannot be read: " + code.message());
    if (bytes_.empty() && !parser_->http.is_done()) return State::kNeedsMore;
  }
  // A proxy might use one of two Host headers and this server the other one.
  HttpRequest parsed;
  const auto& message = parser_->http.get();
  if (message.count(http::field::host) > 1 ||
      !ParseTarget(std::string_view(message.target().data(), message.target().size()), &parsed))
    return Refuse(400, "the address cannot be read");
  return State::kComplete;
}

bool RequestReader::head_is_whole() const {
  return parser_->http.is_header_done();
}

HttpRequest RequestReader::request_head() const {
  const auto& message = parser_->http.get();
  const auto field = [&](http::field name) { return std::string(message[name]); };
  HttpRequest request;
  (void)ParseTarget(std::string_view(message.target().data(), message.target().size()), &request);
  request.method = head() ? "GET" : std::string(message.method_string());
  request.host = field(http::field::host);
  request.origin = field(http::field::origin);
  request.cookie = field(http::field::cookie);
  request.authorization = field(http::field::authorization);
  request.if_none_match = field(http::field::if_none_match);
  request.content_type = field(http::field::content_type);
  request.last_event_id = std::string(message["Last-Event-ID"]);
  return request;
}

HttpRequest RequestReader::request() {
  HttpRequest request = request_head();
  request.body = std::move(parser_->http.get().body());
  return request;
}

bool RequestReader::head() const {
  return parser_->http.get().method() == http::verb::head;
}

bool RequestReader::keep_alive() const {
  return parser_->http.get().keep_alive();
}

}  // namespace hone
