#include "model/answer_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.h"

namespace hone {

namespace {

namespace http = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

std::string_view View(string_view text) {
  return {text.data(), text.size()};
}

using PieceSink = std::function<bool(std::string_view piece)>;

class Parser final : public http::basic_parser<false> {
 public:
  explicit Parser(const PieceSink& sink) : sink_(sink) {
    // Beast 1.74 takes boost::none for a limit of zero if the length is given.
    body_limit(std::numeric_limits<uint64_t>::max());
    header_limit(64 * 1024);
    eager(true);
  }

  int status() const { return is_header_done() ? status_ : 0; }
  const std::map<std::string, std::string>& headers() const { return headers_; }
  bool stopped() const { return stopped_; }

 private:
  void on_request_impl(http::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int code, string_view, int, error_code&) override { status_ = code; }
  void on_field_impl(http::field, string_view name, string_view value, error_code&) override {
    // Fields after a chunked body do not belong to the head.
    if (!body_begun_) headers_[ToLower(View(name))] = std::string(View(value));
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override { body_begun_ = true; }
  size_t on_body_impl(string_view body, error_code& code) override { return Take(body, code); }
  void on_chunk_header_impl(uint64_t, string_view, error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, string_view body, error_code& code) override {
    return Take(body, code);
  }
  void on_finish_impl(error_code&) override {}

  size_t Take(string_view body, error_code& code) {
    if (!body.empty() && !sink_(View(body))) {
      stopped_ = true;
      code = http::error::need_buffer;
    }
    return body.size();
  }

  const PieceSink& sink_;
  int status_ = 0;
  std::map<std::string, std::string> headers_;
  bool body_begun_ = false;
  bool stopped_ = false;
};

}  // namespace

struct AnswerParser::Impl {
  PieceSink sink;
  bool head_only = false;
  std::optional<Parser> parser;
  std::string pending;  // received, but not a whole piece yet
  std::string trouble;

  void Begin() {
    parser.emplace(sink);
    parser->skip(head_only);
  }

  State Refuse(const error_code& code) {
    if (parser->stopped()) return State::kStopped;
    trouble = code.message();
    return State::kNotHttp;
  }
};

AnswerParser::AnswerParser(Sink sink, bool head_only) : impl_(std::make_unique<Impl>()) {
  impl_->sink = [this, sink = std::move(sink)](std::string_view piece) { return sink(*this, piece); };
  impl_->head_only = head_only;
  impl_->Begin();
}
AnswerParser::~AnswerParser() = default;

AnswerParser::State AnswerParser::Feed(std::string_view bytes) {
  Impl& impl = *impl_;
  impl.pending += bytes;
  while (!impl.pending.empty()) {
    error_code code;
    const size_t used = impl.parser->put(boost::asio::buffer(impl.pending), code);
    impl.pending.erase(0, used);
    if (code == http::error::need_more) return State::kMore;
    if (code) return impl.Refuse(code);
    if (impl.parser->is_done() && impl.parser->status() / 100 == 1) {
      impl.Begin();
      continue;
    }
    if (impl.parser->is_done()) return State::kDone;
    if (used == 0) break;
  }
  return State::kMore;
}

AnswerParser::State AnswerParser::End() {
  Impl& impl = *impl_;
  if (!impl.parser->got_some()) return State::kCutOff;
  error_code code;
  impl.parser->put_eof(code);
  return code ? State::kCutOff : State::kDone;
}

int AnswerParser::status() const {
  return impl_->parser->status();
}
const std::map<std::string, std::string>& AnswerParser::headers() const {
  return impl_->parser->headers();
}
const std::string& AnswerParser::trouble() const {
  return impl_->trouble;
}

}  // namespace hone
