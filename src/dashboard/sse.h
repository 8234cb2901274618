// Server-sent events as text: https://html.spec.whatwg.org/multipage/server-sent-events.html
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone {

// One event. `data` may have several lines. `id` < 0: none.
std::string SseEvent(std::string_view name, std::string_view data, int64_t id = -1);
// A comment, which keeps the connection from looking dead.
std::string SseBeat();

}  // namespace hone
