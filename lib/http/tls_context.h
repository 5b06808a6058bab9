#pragma once  // Library-internal: other rooms include this header.

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/status.h"
#include "apiserver/http/tls.h"

// OpenSSL's side of http/tls.h.
namespace apiserver::inline v0::http {

using SslContext = std::shared_ptr<SSL_CTX>;

class ServerTls::Context {
 public:
  explicit Context(SslContext ssl) : ssl_(std::move(ssl)) {}
  const SslContext& ssl() const { return ssl_; }

 private:
  const SslContext ssl_;
};
// A client's context; `http2` says whether h2 is offered. kInvalid: bad CA or key pair.
Result<SslContext> NewClientContext(const ClientTls& tls, bool http2);

// What servers and clients have in common.
Result<SslContext> NewContext(const SSL_METHOD* method);
// kInvalid: not a matching pair.
Status UsePair(SSL_CTX* context, const KeyPair& pair);
// kInvalid, with `what` and OpenSSL's reason.
Status SslError(const std::string& what);

// OpenSSL's own words for what went wrong last on this thread; clears them.
std::string TakeSslError();

}  // namespace apiserver::inline v0::http
