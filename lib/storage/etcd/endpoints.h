#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::storage::etcd {

// One member of a cluster, as a command line names it.
struct Endpoint {
  std::string text;    // As it was given.
  std::string target;  // As gRPC wants it: "ipv4:10.0.0.1:2379", "dns:///etcd-0:2379".
  bool tls = false;
};

// "http://10.0.0.1:2379", "https://[::1]:2379", "etcd-0:2379", "unix:///run/etcd.sock". Without a
// port: 2379. kInvalid: what is wrong with which; a list without any is wrong too.
Result<std::vector<Endpoint>> ParseEndpoints(const std::vector<std::string>& texts);

// "http://a:2379, http://b:2379".
std::string TextOf(const std::vector<Endpoint>& endpoints);

}  // namespace apiserver::inline v0::storage::etcd
