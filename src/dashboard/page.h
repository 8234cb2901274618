// Renders pages. A page is a template file (pages/*.html) over JSON. Every string in that JSON is escaped
// before the template is filled, so that text from a model or a candidate never becomes markup. Members named
// html_… are the exception: Hone's own code makes them from escaped parts.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "dashboard/http_message.h"

namespace hone {

// Renders a fragment: pages/<name>.html with the escaped values.
Result<std::string> RenderFragment(const std::string& name, Json values);
// Renders a whole page: the fragment inside pages/layout.html.
HttpReply RenderPage(const std::string& name, const std::string& title, const std::string& section,
                     Json values, bool refresh_without_script = false);
HttpReply ErrorPage(int status, const std::string& sentence);
// The page for an Error: not found, usage, or an internal error.
HttpReply ErrorPage(const Error& error);
HttpReply JsonReply(const OrderedJson& json);
HttpReply JsonError(const Error& error);
// A Python file that the browser saves under this name.
HttpReply FileReply(const std::string& name, std::string text);

// The style sheet, the script or the icon. Status 404 for an unknown name.
HttpReply Asset(const std::string& name, const HttpRequest& request);

}  // namespace hone
