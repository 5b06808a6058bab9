#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/proxy/location.h"
#include "apiserver/runtime/value.h"

// The names and addresses of what requests are forwarded to.
namespace apiserver::inline v0::controlplane {

// A name in a path of proxies: "name", "name:port" or "scheme:name:port".
struct SchemeNamePort {
  std::string scheme;  // "http", "https" or empty.
  std::string name;
  std::string port;  // A number or a name. Empty: none is given.
};
// Takes a name apart. nullopt: it has another form. utilnet.SplitSchemeNamePort.
std::optional<SchemeNamePort> SplitSchemeNamePort(std::string_view id);

// Returns whether requests may be forwarded to an IP address: one that is not global unicast, as
// loopback and link-local ones, could be this machine or its cloud's metadata. net.IP.
// IsGlobalUnicast.
bool IsGlobalUnicast(std::string_view ip);

// Looks a host up, and returns the first of its addresses. Waits for the resolver. kBadRequest: one
// of the addresses is not global unicast ("address not allowed"), or there is none. Connections go
// to the result, not to the name: another look-up might say something else (CVE-2020-8562).
Result<std::string> CheckedAddressOf(const std::string& host);

// Returns "host:port" with brackets around IPv6. Without a port: the host alone.
std::string HostPort(std::string_view host, std::string_view port);

// Returns the path of a location with `path` behind it, cleaned, which ends in a slash if `path`
// does. utilnet.JoinPreservingTrailingSlash.
std::string PathOf(std::string_view path);

// The parameters of a location.
class Parameters final {
 public:
  void Add(std::string_view key, std::string_view value);
  // Adds `value` if `given`.
  void AddIf(bool given, std::string_view key, std::string_view value) {
    if (given) Add(key, value);
  }
  // Adds a number. Null: nothing is added.
  void AddNumber(std::string_view key, runtime::Value number);
  // Returns them in the order of their keys. url.Values.Encode.
  std::string Encode() const { return proxy::EncodeQuery(query_); }

 private:
  std::string query_;
};

}  // namespace apiserver::inline v0::controlplane
