// Sends one HTTP/1.1 POST and passes on the response piece by piece. byte_stream handles sockets and TLS,
// answer_parser the response's format. Certificates are always verified, redirects are never followed (they
// would carry the key), and every wait ends at its deadline or on Ctrl-C. It does not depend on models and
// never retries.
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
  double idle_seconds = 300;    // no byte for this long; reasoning models are silent for minutes
  double total_seconds = 3600;
};

struct HttpPost {
  Url url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

enum class HttpTrouble {
  kNone,
  kUsage,        // an invalid address or proxy
  kUnreachable,  // unknown host, or no listener
  kTls,          // the certificate was refused, or there are none to verify it with
  kTimeout,
  kReset,     // the connection ended in the middle
  kProtocol,  // not HTTP
  kStopped,   // the sink needs no more
  kInterrupted,
};

struct HttpAnswer {
  HttpTrouble trouble = HttpTrouble::kNone;
  std::string message;                         // one sentence if there is a problem
  bool request_sent = false;                   // the whole request; the receiver may have acted on it
  int status = 0;                              // 0: no response was received
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // of responses other than 2xx, up to 64 KiB
};

// Called with every piece of a 2xx response's body. Returning false ends the exchange.
using HttpSink = std::function<bool(const HttpAnswer& head, std::string_view piece)>;

// Blocks. Thread-safe.
HttpAnswer Post(const HttpPost& post, const HttpLimits& limits, const HttpSink& sink);

}  // namespace hone
