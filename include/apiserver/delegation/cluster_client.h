#pragma once

#include <memory>

#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/client/client_config.h"
#include "apiserver/http/dialer.h"
#include "apiserver/runtime/scheme.h"

namespace apiserver::inline v0::delegation {

// The services that a client of a cluster uses. They outlive it.
struct ClusterClientDeps {
  // That of client::ClientOptions. Null: every object is of an untyped kind.
  const runtime::Scheme* scheme = nullptr;
  // Gets what a credential plug-in writes to standard error.
  LogSink* log = &NullLogSink();
};

// Returns a client of the cluster in `config`, for lists and watches. Files are read again with
// each connection, the token's with each request, so that the client keeps its identity for as long
// as it lives. The request that needs new credentials of a plug-in runs it, and is refused with
// kServiceUnavailable if it fails. `dialer` and `files` must outlive the client. kInvalid: the
// server's URL is wrong, or there is no certificate authority to verify it with.
Result<std::unique_ptr<client::Client>> NewClusterClient(const client::ClientConfig& config,
                                                         http::Dialer& dialer,
                                                         const FileSystem& files,
                                                         const ClusterClientDeps& deps = {});

}  // namespace apiserver::inline v0::delegation
