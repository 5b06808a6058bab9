#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::storage::etcd {

// One member of a cluster.
struct Endpoint {
  std::string text;  // The text as it was given.
  std::string host;  // An IP address without brackets, a name, or "unix:/run/etcd.sock".
  int port = 0;      // Zero for a socket.
  bool tls = false;
};

// Parses "http://10.0.0.1:2379", "https://[::1]:2379", "etcd-0:2379", "unix:///run/etcd.sock". The
// default port is 2379. kInvalid: one is malformed, with its text and the reason, or the list is
// empty.
Result<std::vector<Endpoint>> ParseEndpoints(const std::vector<std::string>& texts);

// Returns "http://a:2379, http://b:2379".
std::string TextOf(const std::vector<Endpoint>& endpoints);

}  // namespace apiserver::inline v0::storage::etcd
