#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "storage/etcd/endpoints.h"
#include "storage/etcd/rpc.h"

namespace apiserver::inline v0::storage::etcd {

struct GrpcOptions {
  std::vector<Endpoint> endpoints;
  // PEM text; empty: none. The authorities for https, or the system's; and who we are.
  std::string ca;
  std::string certificate;
  std::string key;
  std::string server_name;  // Which name certificates must carry; empty: the endpoint's host.
  std::chrono::milliseconds keepalive_time = std::chrono::seconds(30);
  std::chrono::milliseconds keepalive_timeout = std::chrono::seconds(10);
};

// Calls that still run keep what they need.
std::shared_ptr<Rpc> NewGrpcRpc(const GrpcOptions& options);

}  // namespace apiserver::inline v0::storage::etcd
