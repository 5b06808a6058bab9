#pragma once

#include <memory>

#include "apiserver/storage/etcd/engine.h"
#include "storage/etcd/rpc.h"

namespace apiserver::inline v0::storage::etcd {

// Opens as Open() does, over a given transport.
Result<std::unique_ptr<kv::Engine>> OpenOver(std::shared_ptr<Rpc> rpc, const std::string& servers,
                                             const Options& options);

}  // namespace apiserver::inline v0::storage::etcd
