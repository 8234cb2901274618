// URLs as users type them: an API base with or without /v1 and a trailing slash, proxies from the
// environment. Opens no connection.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

struct Url {
  bool tls = false;
  std::string host;  // lower case, without brackets for IPv6
  int port = 0;
  std::string path;      // begins with '/', keeps a query
  std::string userinfo;  // "user:password", percent-decoded; only proxies may have one

  // "host:port" for the Host header, without the scheme's default port.
  std::string Authority() const;
  // For messages; never contains the userinfo.
  std::string Display() const;
};

// Accepts only http:// and https://. A missing scheme means https, or http for this machine.
Result<Url> ParseUrl(std::string_view text);

// localhost, 127.0.0.0/8 and ::1.
bool IsLoopback(std::string_view host);

// The URL of `endpoint` ("/chat/completions") below an API base. Inserts "/v1" unless the base has a version
// in its path. A base that ends with the endpoint is used unchanged.
Result<Url> EndpointUrl(std::string_view api_base, std::string_view endpoint);

// The proxy for this target by http_proxy, https_proxy, all_proxy and no_proxy, if any. This machine is
// always reached directly.
Result<std::optional<Url>> ProxyFor(const Url& target);

}  // namespace hone
