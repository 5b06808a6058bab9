#include "client/call_target.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/status_macros.h"

namespace apiserver::v0::client {
namespace {

Status BadUrl(const std::string& url, std::string_view why) {
  return Status(Reason::kInvalid, "cannot call \"" + url + "\": " + std::string(why));
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    const bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return alnum || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// Without CR and LF, a value cannot add a header or end the head (RFC 9110, 5.5).
bool IsFieldValue(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

// True for text that may stand in a URL: no blanks, no controls, nothing that would need another
// encoding.
bool IsUrlText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c > 0x20 && c < 0x7f &&
           std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
  });
}

struct Authority {
  std::string host;  // Without brackets.
  std::string port;  // Empty: not given.
};

Result<Authority> ParseAuthority(const std::string& url, std::string_view text) {
  Authority parsed;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return BadUrl(url, "a bracket is not closed");
    parsed.host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
  } else {
    const std::size_t end = std::min(text.find(':'), text.size());
    parsed.host = text.substr(0, end);
    rest = text.substr(end);
  }
  if (parsed.host.empty()) return BadUrl(url, "no host");
  if (rest.empty()) return parsed;
  int port = 0;
  const char* last = rest.data() + rest.size();
  const auto read = std::from_chars(rest.data() + 1, last, port);
  if (rest.front() != ':' || read.ec != std::errc() || read.ptr != last || port < 1 ||
      port > 65535) {
    return BadUrl(url, "the port is no number from 1 to 65535");
  }
  parsed.port = std::to_string(port);
  return parsed;
}

}  // namespace

Result<CallTarget> ParseCallTarget(const std::string& url, const std::string& address) {
  CallTarget target;
  std::string_view rest = url;
  if (!IsUrlText(rest)) return BadUrl(url, "it has characters that no URL has");
  target.tls = http::EqualIgnoreCase(rest.substr(0, 8), "https://");
  if (!target.tls && !http::EqualIgnoreCase(rest.substr(0, 7), "http://"))
    return BadUrl(url, "neither https nor http");
  rest.remove_prefix(target.tls ? 8 : 7);
  if (rest.find('#') != std::string_view::npos) return BadUrl(url, "it has a fragment");
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::string_view authority = rest.substr(0, end);
  if (authority.find('@') != std::string_view::npos) return BadUrl(url, "it names a user");
  ASSIGN_OR_RETURN(const Authority parsed, ParseAuthority(url, authority));
  target.host = parsed.host;
  target.host_line = authority;
  target.resource = rest.substr(end);
  if (!target.resource.starts_with('/')) target.resource.insert(0, "/");
  Authority to = parsed;
  if (!address.empty()) {
    ASSIGN_OR_RETURN(to, ParseAuthority(address, address));
    if (to.port.empty()) return BadUrl(address, "an address is host:port");
  }
  if (to.port.empty()) to.port = target.tls ? "443" : "80";
  const bool in6 = to.host.find(':') != std::string::npos;
  target.base =
      (target.tls ? "https://" : "http://") + (in6 ? "[" + to.host + "]" : to.host) + ":" + to.port;
  target.to_host = std::move(to.host);
  target.to_port = std::move(to.port);
  return target;
}

Status CheckCallHead(const HttpRequest& request) {
  // The client sets these itself: a second one could be taken for the framing of another request.
  static constexpr std::array<std::string_view, 10> kTransport = {
      "Connection", "Content-Length",   "Expect", "Host",    "HTTP2-Settings",
      "Keep-Alive", "Proxy-Connection", "TE",     "Trailer", "Transfer-Encoding"};
  if (!IsToken(request.method)) {
    return Status(Reason::kInvalid, "\"" + request.method + "\" is no HTTP method");
  }
  for (const auto& field : request.headers) {
    const auto same = [&](std::string_view name) {
      return http::EqualIgnoreCase(name, field.name);
    };
    if (!IsToken(field.name) || !IsFieldValue(field.value)) {
      return Status(Reason::kInvalid, "header \"" + field.name + "\" cannot be sent");
    }
    if (std::any_of(kTransport.begin(), kTransport.end(), same) || same("Upgrade")) {
      return Status(Reason::kInvalid, "header \"" + field.name + "\" belongs to the transport");
    }
  }
  return Status::Ok();
}

}  // namespace apiserver::v0::client
