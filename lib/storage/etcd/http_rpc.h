#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/http/tls.h"
#include "storage/etcd/endpoints.h"
#include "storage/etcd/login.h"
#include "storage/etcd/rpc.h"

namespace apiserver::inline v0::storage::etcd {

// The endpoints and credentials of the connections.
struct HttpRpcOptions {
  std::vector<Endpoint> endpoints;
  http::ClientTls tls;  // For https.
  // Sent along with each call and each new stream; may change. Null: nothing is.
  std::shared_ptr<SharedToken> token;
  std::chrono::milliseconds keepalive_time = std::chrono::seconds(30);
  std::chrono::milliseconds keepalive_timeout = std::chrono::seconds(10);
};

// Returns a transport that speaks gRPC over HTTP/2 with a loop of its own. Each member has a
// connection for calls and one for streams: bursts of watches must not hold up other calls.
std::shared_ptr<Rpc> NewHttpRpc(const HttpRpcOptions& options);

}  // namespace apiserver::inline v0::storage::etcd
