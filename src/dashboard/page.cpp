#include "dashboard/page.h"

#include <fmt/format.h>

#include <cctype>
#include <map>

#include "base/embedded.h"
#include "base/ids.h"
#include "base/template.h"
#include "base/text.h"
#include "dashboard/access.h"
#include "report/escape.h"
#include "report/html_page.h"

namespace hone {

std::span<const EmbeddedFile> EmbeddedFiles_hone_dashboard();

namespace {

std::string_view Embedded(const std::string& name) {
  for (const EmbeddedFile& file : EmbeddedFiles_hone_dashboard())
    if (file.name == name) return file.content;
  return {};
}

// Reports and the dashboard share one style; the part that only a server needs follows it.
std::string AssetText(const std::string& name) {
  const std::string own(Embedded("assets/" + name));
  return name == "hone.css" ? PageStyle() + own : own;
}

// Changes with the content, so that browsers may cache a file for ever and still get a new version.
std::string AssetVersion(const std::string& name) {
  return Sha256(AssetText(name)).substr(0, 12);
}

void EscapeStrings(Json* value) {
  if (value->is_string()) {
    *value = EscapeHtml(value->str());
  } else if (value->is_array()) {
    for (Json& each : *value) EscapeStrings(&each);
  } else if (value->is_object()) {
    for (const std::string& name : value->keys())
      if (!StartsWith(name, "html_")) EscapeStrings(&value->at(name));
  }
}

}  // namespace

Result<std::string> RenderFragment(const std::string& name, Json values) {
  const std::string_view text = Embedded("pages/" + name + ".html");
  if (text.empty()) return Error{ErrorKind::kInternal, "there is no page " + name};
  EscapeStrings(&values);
  return RenderTemplate(text, values).WithContext("the page " + name);
}

HttpReply RenderPage(const std::string& name, const std::string& title, const std::string& section,
                     Json values, bool refresh_without_script) {
  Result<std::string> body = RenderFragment(name, std::move(values));
  if (!body.ok()) return ErrorPage(body.error());
  Result<std::string> page = RenderFragment("layout", {{"title", title},
                                                       {"section", section},
                                                       {"html_body", std::move(*body)},
                                                       {"refresh", refresh_without_script},
                                                       {"version", HONE_VERSION},
                                                       {"css", AssetVersion("hone.css")},
                                                       {"js", AssetVersion("hone.js")}});
  if (!page.ok()) return Refusal(500, page.error().message);
  HttpReply reply;
  reply.body = std::move(*page);
  return reply;
}

HttpReply ErrorPage(int status, const std::string& sentence) {
  HttpReply reply = RenderPage("error", StatusText(status), "", {{"status", status}, {"sentence", sentence}});
  reply.status = status;
  return reply;
}

HttpReply ErrorPage(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kNotFound:
      return ErrorPage(404, error.message);
    case ErrorKind::kUsage:
      return ErrorPage(400, error.message);
    case ErrorKind::kInterrupted:
      return Refusal(503, "hone serve is shutting down");
    // Does not use the error page, which itself may have failed.
    default:
      return Refusal(500, SafeForTerminal(error.message));
  }
}

HttpReply JsonReply(const OrderedJson& json) {
  HttpReply reply;
  reply.content_type = "application/json";
  reply.body = DumpJson(json, 1) + "\n";
  return reply;
}

HttpReply JsonError(const Error& error) {
  HttpReply reply = JsonReply({{"error", error.message}});
  reply.status = error.kind == ErrorKind::kNotFound ? 404 : error.kind == ErrorKind::kUsage ? 400 : 500;
  return reply;
}

HttpReply FileReply(const std::string& name, std::string text) {
  // A header may contain only ASCII, but candidates' names may contain any character.
  std::string safe;
  for (const char c : name)
    safe += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' ? c : '_';
  HttpReply reply;
  reply.content_type = "text/x-python; charset=utf-8";
  reply.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + safe + "\"");
  reply.body = std::move(text);
  return reply;
}

HttpReply Asset(const std::string& name, const HttpRequest& request) {
  static const std::map<std::string, const char*> kTypes = {{"hone.css", "text/css; charset=utf-8"},
                                                            {"hone.js", "text/javascript; charset=utf-8"},
                                                            {"icon.svg", "image/svg+xml"}};
  const auto type = kTypes.find(name);
  if (type == kTypes.end()) return Refusal(404, "there is no such file");
  HttpReply reply;
  reply.content_type = type->second;
  const std::string tag = "\"" + AssetVersion(name) + "\"";
  reply.headers.emplace_back("ETag", tag);
  reply.headers.emplace_back("Cache-Control", "private, max-age=86400");
  if (request.if_none_match == tag)
    reply.status = 304;
  else
    reply.body = AssetText(name);
  return reply;
}

}  // namespace hone
