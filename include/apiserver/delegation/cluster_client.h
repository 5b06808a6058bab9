#pragma once

#include <memory>

#include "apiserver/base/file_system.h"
#include "apiserver/client/client.h"
#include "apiserver/client/client_config.h"
#include "apiserver/http/dialer.h"
#include "apiserver/runtime/scheme.h"

namespace apiserver::inline v0::delegation {

// Returns a client of the cluster in `config`, for lists and watches. Files are read again with
// each connection, the token's with each request, so that the client keeps its identity for as long
// as it lives. `dialer`, `files` and `scheme`, that of client::ClientOptions, must outlive it.
// kInvalid: the server's URL is wrong, or there is no certificate authority to verify it with.
Result<std::unique_ptr<client::Client>> NewClusterClient(const client::ClientConfig& config,
                                                         http::Dialer& dialer,
                                                         const FileSystem& files,
                                                         const runtime::Scheme* scheme = nullptr);

}  // namespace apiserver::inline v0::delegation
