#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/base/context.h"
#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/http/dialer.h"
#include "apiserver/http/headers.h"
#include "apiserver/http/tls.h"

// Calls to other servers, of one request and one whole response: webhooks, TokenReview,
// SubjectAccessReview, JWKS. Streams use http::Dialer.
namespace apiserver::inline v0::client {

// One request.
struct HttpRequest {
  std::string method = "POST";
  std::string url = {};  // "https://host[:port]/path?query".
  http::Headers headers = {};
  std::string body = {};
  // The limit of the whole call, from connecting to the last byte of the response.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
};

// Options of a client. It keeps connections open and may be used for many calls.
struct HttpClientOptions {
  // Requirements for an https server. `ca_pem` empty: one of the machine's authorities must have
  // signed it. `server_name` empty: the URL's host.
  http::ClientTls tls = {};
  // "host:port" to connect to instead of the URL's host. Empty: the URL's host. The certificate is
  // still checked against the name.
  std::string address = {};
  // The most bytes of a response; a longer one is refused without reading on.
  std::size_t response_bytes_max = 3 << 20;
};

// Calls other servers. Redirects are never followed: a 3xx is a response like any other. Methods
// may be called from any thread.
class HttpClient {
 public:
  // Gets every response, whatever its code, or an error. kInvalid: not a URL it can call;
  // kServiceUnavailable: no connection, or it broke; kTimeout: the request's timeout passed or
  // `ctx` was done; kRequestEntityTooLarge: the response is over its limit. Called as Start() says,
  // on any thread; must not block.
  using Done = UniqueFunction<void(Result<http::ClientResponse>)>;

  virtual ~HttpClient() = default;
  // Starts a call without waiting. `done` is called exactly once, on a thread of the client's own
  // or at once on the caller's; it must not block.
  virtual void Start(const Context& ctx, HttpRequest request, Done done) = 0;
  // Waits for the response. kWouldBlock: `ctx` may not wait.
  Result<http::ClientResponse> Call(const Context& ctx, HttpRequest request);
};

// The error of a call whose connection was reset, so that the server may never have seen it.
Status ConnectionReset(std::string message);
// True for an error of ConnectionReset().
bool IsConnectionReset(const Status& error);

// Makes clients, one for each set of options: NewHttpClientFactory() of pooled_client.h, or that of
// a leaf. Called on any thread; must not wait for the network. kInvalid: TLS material that cannot
// be read.
using HttpClientFactory =
    std::function<Result<std::shared_ptr<HttpClient>>(const HttpClientOptions& options)>;

}  // namespace apiserver::inline v0::client
