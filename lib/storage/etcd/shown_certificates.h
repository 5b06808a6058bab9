#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "apiserver/http/certificates.h"
#include "storage/etcd/http_rpc.h"

namespace apiserver::inline v0::storage::etcd {

// Shakes hands with each of the endpoints that have TLS, all at the same time, and returns for each
// endpoint the server's own certificate. It is told whether it is valid or not; nullopt: none was
// shown in time. Blocks, for no longer than about `timeout`.
std::vector<std::optional<http::CertificateFacts>> ShownCertificates(
    const HttpRpcOptions& transport, std::chrono::milliseconds timeout);

}  // namespace apiserver::inline v0::storage::etcd
