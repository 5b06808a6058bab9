#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::controlplane {

// The addresses of the servers of a cluster, each kept for as long as its server renews it:
// reconcilers.Leases. Any thread; calls block.
class MasterLeases {
 public:
  virtual ~MasterLeases() = default;
  // Returns the addresses, in the order of their keys.
  virtual Result<std::vector<std::string>> ListLeases(const Context& ctx) = 0;
  // Adds an address, or keeps it for another while.
  virtual Status UpdateLease(const Context& ctx, const std::string& ip) = 0;
  // kNotFound: it is not there.
  virtual Status RemoveLease(const Context& ctx, const std::string& ip) = 0;
};

// Keeps them where a kube-apiserver does, as Endpoints at "<prefix>/masterleases/<ip>". `endpoints`
// is that kind; `lifetime` is how long an address stays without its server.
std::unique_ptr<MasterLeases> NewMasterLeases(const registry::StorageConfig& storage,
                                              runtime::KindPtr endpoints,
                                              std::chrono::seconds lifetime);

}  // namespace apiserver::inline v0::controlplane
