#include "dashboard/request_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <optional>
#include <utility>

namespace hone {

namespace {

namespace http = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

class Parser final : public http::basic_parser<true> {
 public:
  Parser(size_t most_head_bytes, size_t most_body_bytes) {
    header_limit(static_cast<uint32_t>(most_head_bytes));
    body_limit(most_body_bytes);
    eager(true);
  }

  HttpRequest request;
  std::string target;
  bool head_only = false;
  int hosts = 0;

 private:
  void on_request_impl(http::verb method, string_view name, string_view asked, int, error_code&) override {
    head_only = method == http::verb::head;
    request.method = head_only ? "GET" : std::string(name.data(), name.size());
    target.assign(asked.data(), asked.size());
  }
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(http::field field, string_view name, string_view value, error_code&) override {
    std::string* into = nullptr;
    switch (field) {
      case http::field::host:
        ++hosts;
        into = &request.host;
        break;
      case http::field::origin:
        into = &request.origin;
        break;
      case http::field::cookie:
        into = &request.cookie;
        break;
      case http::field::authorization:
        into = &request.authorization;
        break;
      case http::field::if_none_match:
        into = &request.if_none_match;
        break;
      case http::field::content_type:
        into = &request.content_type;
        break;
      default:
        if (boost::beast::iequals(name, "Last-Event-ID")) into = &request.last_event_id;
        break;
    }
    // The first of several counts; what follows a body in chunks never replaces the head's.
    if (into != nullptr && into->empty()) into->assign(value.data(), value.size());
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}
  size_t on_body_impl(string_view body, error_code&) override { return Take(body); }
  void on_chunk_header_impl(uint64_t, string_view, error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, string_view body, error_code&) override { return Take(body); }
  void on_finish_impl(error_code&) override {}

  size_t Take(string_view body) {
    request.body.append(body.data(), body.size());
    return body.size();
  }
};

}  // namespace

struct RequestParser::Impl {
  size_t most_head_bytes;
  size_t most_body_bytes;
  std::optional<Parser> parser;
  std::string pending;  // came, and belongs to no whole piece yet
  int status = 0;
  std::string refusal;

  State Refuse(const error_code& code) {
    status = code == http::error::body_limit ? 413 : code == http::error::header_limit ? 431 : 400;
    refusal = "the request cannot be read: " + code.message();
    return State::kRefused;
  }

  State Finish() {
    if (parser->hosts <= 1 && ParseTarget(parser->target, &parser->request)) return State::kDone;
    status = 400;
    refusal = "the address cannot be read";
    return State::kRefused;
  }
};

RequestParser::RequestParser(size_t most_head_bytes, size_t most_body_bytes)
    : impl_(std::make_unique<Impl>(Impl{most_head_bytes, most_body_bytes, {}, {}, 0, {}})) {
  impl_->parser.emplace(most_head_bytes, most_body_bytes);
}
RequestParser::~RequestParser() = default;

RequestParser::State RequestParser::Feed(std::string_view bytes) {
  Impl& impl = *impl_;
  impl.pending += bytes;
  while (!impl.pending.empty()) {
    error_code code;
    const size_t used = impl.parser->put(boost::asio::buffer(impl.pending), code);
    impl.pending.erase(0, used);
    if (code == http::error::need_more) return State::kMore;
    if (code) return impl.Refuse(code);
    if (impl.parser->is_done()) return impl.Finish();
    if (used == 0) break;
  }
  return State::kMore;
}

RequestParser::State RequestParser::End() {
  if (!impl_->parser->got_some() && impl_->pending.empty()) return State::kMore;
  return impl_->Refuse(http::make_error_code(http::error::partial_message));
}

RequestParser::State RequestParser::Next() {
  impl_->parser.emplace(impl_->most_head_bytes, impl_->most_body_bytes);
  return Feed("");
}

HttpRequest RequestParser::TakeRequest() {
  return std::move(impl_->parser->request);
}
bool RequestParser::head_only() const {
  return impl_->parser->head_only;
}
bool RequestParser::keep_alive() const {
  return impl_->parser->keep_alive();
}
int RequestParser::refusal_status() const {
  return impl_->status;
}
const std::string& RequestParser::refusal() const {
  return impl_->refusal;
}

}  // namespace hone
