// From values to HTML. Pages are template files (pages/*.html) over JSON; every string in that JSON is
// escaped before a template sees it, so that nothing a model or a candidate wrote can be markup, whatever a
// template does with it. Only members named html_… pass as they are: those are made by Hone's own code from
// escaped parts.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "dashboard/http_message.h"

namespace hone {

// A fragment: pages/<name>.html over the escaped values.
Result<std::string> RenderFragment(const std::string& name, Json values);
// A whole page: the fragment inside pages/layout.html.
HttpReply RenderPage(const std::string& name, const std::string& title, const std::string& section,
                     Json values, bool refresh_without_script = false);
HttpReply ErrorPage(int status, const std::string& sentence);
// What an Error becomes: not found, usage, or our own fault.
HttpReply ErrorPage(const Error& error);
HttpReply JsonReply(const OrderedJson& json);
HttpReply JsonError(const Error& error);

// The style sheet, the script, the icon; nothing of that name: status 404.
HttpReply Asset(const std::string& name, const HttpRequest& request);

}  // namespace hone
