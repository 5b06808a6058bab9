#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "storage/etcd/endpoints.h"
#include "storage/etcd/rpc.h"

namespace apiserver::inline v0::storage::etcd {

// The endpoints and credentials of the connections.
struct GrpcOptions {
  std::vector<Endpoint> endpoints;
  // PEM texts: the authorities for https (empty: the system's), and the client certificate and key
  // (empty: none).
  std::string ca;
  std::string certificate;
  std::string key;
  std::string server_name;  // The name that certificates must carry. Empty: the endpoint's host.
  std::chrono::milliseconds keepalive_time = std::chrono::seconds(30);
  std::chrono::milliseconds keepalive_timeout = std::chrono::seconds(10);
};

// Returns a transport over gRPC. Running calls keep it alive.
std::shared_ptr<Rpc> NewGrpcRpc(const GrpcOptions& options);

}  // namespace apiserver::inline v0::storage::etcd
