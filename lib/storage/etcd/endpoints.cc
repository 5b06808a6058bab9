#include "storage/etcd/endpoints.h"

#include <charconv>
#include <utility>

#include "base/status_macros.h"
#include "text/ip.h"

namespace apiserver::v0::storage::etcd {
namespace {

constexpr int kDefaultPort = 2379;

// The message repeats the text as it was given, since a command line may name several servers.
Status Wrong(const std::string& text, const std::string& why) {
  return Status(Reason::kInvalid,
                "the etcd server \"" + text + "\" " + why + "; write it as http://127.0.0.1:2379");
}

// Returns the number in `port`; 0: it is none.
int PortIn(std::string_view port) {
  int number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool whole = error == std::errc() && end == port.data() + port.size();
  return whole && number > 0 && number < 65536 ? number : 0;
}

struct HostPort {
  std::string host;
  int port = 0;
};

Result<HostPort> Split(const std::string& text, std::string_view authority) {
  HostPort split;
  std::string_view rest;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return Wrong(text, "lacks a ]");
    split.host = authority.substr(1, close - 1);
    rest = authority.substr(close + 1);
    if (!text::IsIpv6(split.host)) return Wrong(text, "has no IPv6 address in its brackets");
  } else {
    const std::size_t colon = authority.find(':');
    // A bare IPv6 address is not accepted: its last group could as well be a port.
    split.host = authority.substr(0, colon);
    rest = colon == std::string_view::npos ? "" : authority.substr(colon);
  }
  if (split.host.empty()) return Wrong(text, "names no host");
  split.port = rest.empty() ? kDefaultPort : PortIn(rest.substr(1));
  if ((!rest.empty() && rest[0] != ':') || split.port == 0) return Wrong(text, "has no port");
  return split;
}

Result<Endpoint> Parse(const std::string& text) {
  Endpoint endpoint{.text = text, .host = "", .port = 0, .tls = false};
  std::string_view rest = text;
  if (const std::size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
    const std::string_view name = rest.substr(0, scheme);
    rest.remove_prefix(scheme + 3);
    // A path has no port and no TLS, so nothing else is parsed.
    if (name == "unix") {
      if (rest.empty()) return Wrong(text, "names no socket");
      endpoint.host = "unix:" + std::string(rest);
      return endpoint;
    }
    if (name != "http" && name != "https") return Wrong(text, "has an unknown scheme");
    endpoint.tls = name == "https";
  }
  // A slash at the end is accepted, since URLs are often copied with it.
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find_first_of("/?#@, ") != std::string_view::npos) {
    return Wrong(text, "is more than a host and a port");
  }
  ASSIGN_OR_RETURN(HostPort split, Split(text, rest));
  endpoint.host = std::move(split.host);
  endpoint.port = split.port;
  return endpoint;
}

}  // namespace

Result<std::vector<Endpoint>> ParseEndpoints(const std::vector<std::string>& texts) {
  std::vector<Endpoint> endpoints;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(Endpoint endpoint, Parse(text));
    endpoints.push_back(std::move(endpoint));
  }
  if (endpoints.empty()) return Status(Reason::kInvalid, "no etcd server is named");
  return endpoints;
}

std::string TextOf(const std::vector<Endpoint>& endpoints) {
  std::string text;
  for (const Endpoint& endpoint : endpoints) text += (text.empty() ? "" : ", ") + endpoint.text;
  return text;
}

}  // namespace apiserver::v0::storage::etcd
