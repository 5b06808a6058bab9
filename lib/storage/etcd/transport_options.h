#pragma once

#include <memory>
#include <optional>

#include "apiserver/base/status.h"
#include "apiserver/storage/etcd/engine.h"
#include "storage/etcd/http_rpc.h"
#include "storage/etcd/login.h"

namespace apiserver::inline v0::storage::etcd {

// The transport that options ask for.
struct Transport {
  HttpRpcOptions http;
  std::optional<EtcdUser> user;  // None: nobody logs in.
};

// Reads the files of `options` and parses its servers. kInvalid: they do not fit together; any
// error of reading a file.
Result<Transport> TransportOf(const Options& options);

// Returns the transport, with a loop of its own.
std::shared_ptr<Rpc> NewRpc(Transport transport);

}  // namespace apiserver::inline v0::storage::etcd
