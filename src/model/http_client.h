// One HTTP/1.1 POST whose answer is handed on piece by piece as it arrives. Sockets and TLS are byte_stream's
// business, the answer's form is answer_parser's. Certificates are always verified, redirects are never
// followed (a key would travel along), and every wait ends at its deadline or on Ctrl-C. It knows nothing of
// models and never retries.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/url.h"

namespace hone {

struct HttpLimits {
  double connect_seconds = 20;  // name lookup, TCP, proxy and TLS together
  double idle_seconds = 300;    // no byte for so long; reasoning models are silent for minutes
  double total_seconds = 3600;
};

struct HttpPost {
  Url url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

enum class HttpTrouble {
  kNone,
  kUsage,        // an address or a proxy that cannot be used
  kUnreachable,  // no such host, nobody listens
  kTls,          // the certificate was refused, or there are none to check it with
  kTimeout,
  kReset,     // the connection ended in the middle
  kProtocol,  // not HTTP
  kStopped,   // the sink had enough
  kInterrupted,
};

struct HttpAnswer {
  HttpTrouble trouble = HttpTrouble::kNone;
  std::string message;                         // one sentence when there is trouble
  bool request_sent = false;                   // all of it: whoever took it may have acted on it
  int status = 0;                              // 0: no answer was read
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // of answers other than 2xx, up to 64 KiB
};

// Called with every piece of a 2xx answer's body; false ends the exchange.
using HttpSink = std::function<bool(const HttpAnswer& head, std::string_view piece)>;

// Blocks; safe to call from several threads at once.
HttpAnswer Post(const HttpPost& post, const HttpLimits& limits, const HttpSink& sink);

}  // namespace hone
