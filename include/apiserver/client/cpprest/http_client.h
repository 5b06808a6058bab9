#pragma once

#include <memory>

#include "apiserver/base/status.h"
#include "apiserver/client/http_client.h"

// HttpClient on cpprestsdk: HTTP/1.1 with connections that are kept. Calls run on cpprestsdk's
// threads, which the whole process shares and which end with it.
//
// Beyond cpprestsdk: one timeout for the whole call; answers are never buffered beyond their limit,
// not even one that is a single huge chunk (over TLS; a plain peer's head and chunks are read
// whole); TLS 1.2 at least, and the server's name is looked for among its alternative names only. A
// host name is looked up by one thread at a time, and a look-up outlives the call that gave up on
// it. cpprestsdk cannot connect to an IPv6 address that is not a name: kInvalid.
//
// A call on a kept connection that the server closes before it has answered anything is sent once
// more, on a new one: as a rule the closing is older than the call.
//
// Headers that belong to the transport (Connection, Content-Length, Transfer-Encoding, Upgrade and
// the like) are refused with kInvalid, and so is anything that is no header; Host is the URL's.
namespace apiserver::inline v0::client {

// A client on cpprestsdk. Calls in flight hold what they need: the client may be dropped before
// they end.
Result<std::shared_ptr<HttpClient>> NewCpprestHttpClient(const HttpClientOptions& options);

// Makes such clients.
HttpClientFactory NewCpprestHttpClientFactory();

}  // namespace apiserver::inline v0::client
