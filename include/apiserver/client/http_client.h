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

// Calls to other servers: one request, one whole answer. Webhooks, TokenReview,
// SubjectAccessReview, JWKS. What streams goes through http::Dialer.
namespace apiserver::inline v0::client {

struct HttpRequest {
  std::string method = "POST";
  std::string url = {};  // "https://host[:port]/path?query".
  http::Headers headers = {};
  std::string body = {};
  // For the whole call, connecting and the answer's last byte included.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
};

// How a client speaks. One client keeps connections and may be used for many calls.
struct HttpClientOptions {
  // What an https server must prove. `ca_pem` empty: one of the machine's authorities, never
  // "anything". `server_name` empty: the URL's host.
  http::ClientTls tls = {};
  // Where to connect instead of the URL's host, "host:port"; empty: there. The certificate is still
  // checked against the name.
  std::string address = {};
  // A longer answer is refused, and no more of it read.
  std::size_t response_bytes_max = 3 << 20;
};

// Redirects are never followed: a 3xx is an answer like any other. Methods from any thread.
class HttpClient {
 public:
  // Every answer is a value, whatever its code. Errors: kInvalid: not a URL it can call;
  // kServiceUnavailable: no connection, or it broke; kTimeout: the request's timeout passed or
  // `ctx` was done; kRequestEntityTooLarge: the answer is longer than it may be.
  using Done = UniqueFunction<void(Result<http::ClientResponse>)>;

  virtual ~HttpClient() = default;
  // Does not wait. `done` is called exactly once, on a thread of the client's own or at once on the
  // caller's; it must not wait.
  virtual void Start(const Context& ctx, HttpRequest request, Done done) = 0;
  // Waits for the answer; kWouldBlock where `ctx` may not wait.
  Result<http::ClientResponse> Call(const Context& ctx, HttpRequest request);
};

// The error of a call whose connection was reset: the server may never have seen it.
Status ConnectionReset(std::string message);
bool IsConnectionReset(const Status& error);

// Makes clients, one for each set of options: NewHttpClientFactory() of pooled_client.h, or that of
// a leaf. Called by any thread; must not wait for the network.
// kInvalid: TLS material that cannot be read.
using HttpClientFactory =
    std::function<Result<std::shared_ptr<HttpClient>>(const HttpClientOptions& options)>;

}  // namespace apiserver::inline v0::client
