#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/storage/etcd/inspection.h"
#include "storage/etcd/rpc.h"

namespace apiserver::inline v0::storage::etcd {

// A member, and a transport to it alone, so that one which hangs holds up no other.
struct MemberTransport {
  std::string server;
  std::shared_ptr<Rpc> rpc;
};

// Asks as Inspect() does, over given transports, which it stops.
std::vector<MemberReport> InspectOver(const std::vector<MemberTransport>& members,
                                      std::chrono::milliseconds timeout);

}  // namespace apiserver::inline v0::storage::etcd
