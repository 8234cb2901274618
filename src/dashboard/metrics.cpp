#include "dashboard/metrics.h"

#include <fmt/format.h>

#include "base/text.h"
#include "dashboard/page.h"

namespace hone {

namespace {

std::string LabelValue(const std::string& text) {
  std::string value = ReplaceAll(ValidUtf8(text), "\\", "\\\\");
  return ReplaceAll(ReplaceAll(std::move(value), "\"", "\\\""), "\n", "\\n");
}

class Text {
 public:
  void Family(const char* name, const char* type, const char* help) {
    name_ = name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  template <class Number>
  void Sample(const std::string& labels, Number value) {
    text_ += labels.empty() ? fmt::format("{} {}\n", name_, value)
                            : fmt::format("{}{{{}}} {}\n", name_, labels, value);
  }
  template <class Number>
  void Single(const char* name, const char* type, const char* help, Number value) {
    Family(name, type, help);
    Sample("", value);
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string name_;
  std::string text_;
};

}  // namespace

std::string MetricsText(const StoreTotals& totals, uintmax_t store_bytes, const HttpCounts& counts,
                        size_t viewers) {
  Text text;
  text.Family("hone_build_info", "gauge", "The version of this hone.");
  text.Sample("version=\"" + LabelValue(HONE_VERSION) + "\"", 1);
  text.Family("hone_runs", "gauge", "Runs in the store, by status.");
  for (const char* status : {"running", "done", "stopped", "failed"}) {
    const auto found = totals.runs.find(status);
    text.Sample(fmt::format("status=\"{}\"", status), found == totals.runs.end() ? 0 : found->second);
  }
  text.Family("hone_candidates", "gauge", "Candidates in the store, by verdict and reason.");
  for (const auto& [what, count] : totals.candidates)
    text.Sample(fmt::format("verdict=\"{}\",reason=\"{}\"",
                            what.first.empty() ? "pending" : LabelValue(what.first), LabelValue(what.second)),
                count);
  text.Single("hone_suites", "gauge", "Suites in the store.", totals.suites);
  text.Single("hone_model_calls", "gauge", "Calls of language models in the store.", totals.usage.calls);
  text.Family("hone_model_tokens", "gauge", "Tokens of all calls in the store.");
  text.Sample("direction=\"prompt\"", totals.usage.prompt_tokens);
  text.Sample("direction=\"completion\"", totals.usage.completion_tokens);
  text.Single("hone_model_cost_usd", "gauge", "Cost of all calls in the store, where prices are known.",
              totals.usage.cost_usd);
  text.Single("hone_run_seconds", "gauge", "Working time of all runs in the store, in seconds.",
              totals.run_seconds);
  text.Single("hone_store_bytes", "gauge", "Size of the store's file.", store_bytes);
  text.Single("hone_http_connections_total", "counter", "Connections this server accepted.",
              counts.connections);
  text.Single("hone_http_requests_total", "counter", "Requests this server read.", counts.requests);
  text.Family("hone_http_errors_total", "counter", "Replies with an error status.");
  text.Sample("class=\"4xx\"", counts.refused);
  text.Sample("class=\"5xx\"", counts.failed);
  text.Single("hone_live_viewers", "gauge", "Pages that follow a run right now.", viewers);
  return text.Take();
}

HttpReply MetricsReply(RunStore& store, const fs::path& store_path, const HttpCounts& counts,
                       size_t viewers) {
  const Result<StoreTotals> totals = Totals(store);
  if (!totals.ok()) return ErrorPage(totals.error());
  std::error_code ignored;
  const uintmax_t bytes = fs::file_size(store_path, ignored);
  HttpReply reply;
  reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
  reply.body = MetricsText(*totals, ignored ? 0 : bytes, counts, viewers);
  return reply;
}

}  // namespace hone
