// Addresses as users type them: an API base with or without /v1 and a trailing slash, proxies from the
// environment. Nothing here opens a connection.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

struct Url {
  bool tls = false;
  std::string host;  // lower case, no brackets around IPv6
  int port = 0;
  std::string path;      // begins with '/', keeps a query
  std::string userinfo;  // "user:password", percent-decoded; only proxies may have one

  // "host:port" as the Host header wants it, the port left out where it is the scheme's own.
  std::string Authority() const;
  // For messages; never shows the userinfo.
  std::string Display() const;
};

// http:// and https:// only; a missing scheme is taken as https, or http for this machine.
Result<Url> ParseUrl(std::string_view text);

// localhost, 127.0.0.0/8 and ::1.
bool IsLoopback(std::string_view host);

// The address of `endpoint` ("/chat/completions") below an API base. "/v1" is put in between unless the base
// already has a version in its path; a base that ends in the endpoint is taken as it is.
Result<Url> EndpointUrl(std::string_view api_base, std::string_view endpoint);

// The proxy for this target by http_proxy, https_proxy, all_proxy and no_proxy, or none. This machine is
// always reached directly.
Result<std::optional<Url>> ProxyFor(const Url& target);

}  // namespace hone
