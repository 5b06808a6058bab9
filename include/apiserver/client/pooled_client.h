#pragma once

#include <memory>

#include "apiserver/base/status.h"
#include "apiserver/client/http_client.h"

// The library's own HttpClient, on http::Dialer: HTTP/2 where a server under TLS offers it, with
// one connection for all calls to a name, else HTTP/1.1 with connections that are kept for the next
// call. Idle connections end after 90 seconds. An HTTP/2 server that is silent for 30 seconds is
// sent a PING, and its connection ends when nothing comes for 15 more.
//
// One timeout for the whole call; TLS 1.2 at least; a server's name is looked for among the
// alternative names of its certificate only. A call on a kept connection that ends before anything
// of its answer has come is sent once more, on a new one: as a rule the end is older than the call.
//
// Headers that belong to the transport (Connection, Content-Length, Transfer-Encoding, Upgrade and
// the like) are refused with kInvalid, and so is anything that is no header; Host is the URL's.
namespace apiserver::inline v0::client {

// Makes clients that share a thread for their connections and one that resolves names; `done` is
// called on the former. Calls in flight hold what they need: client and factory may be dropped
// before they end, also by `done`.
HttpClientFactory NewHttpClientFactory();

// A client with threads of its own. kInvalid: TLS material that cannot be read.
Result<std::shared_ptr<HttpClient>> NewHttpClient(const HttpClientOptions& options);

}  // namespace apiserver::inline v0::client
