#pragma once

#include "apiserver/base/status.h"
#include "apiserver/storage/etcd/engine.h"
#include "storage/etcd/http_rpc.h"

namespace apiserver::inline v0::storage::etcd {

// Reads the files of `options` and parses its servers. kInvalid: they do not fit together; any
// error of reading a file.
Result<HttpRpcOptions> TransportOf(const Options& options);

}  // namespace apiserver::inline v0::storage::etcd
