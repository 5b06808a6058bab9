#pragma once  // Library-internal: other rooms include this header.

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/status.h"
#include "apiserver/http/tls.h"

// OpenSSL's side of http/tls.h, which names no OpenSSL type.
namespace apiserver::inline v0::http {

using SslContext = std::shared_ptr<SSL_CTX>;

// The context that a listener uses for its next handshakes.
class ServerTls::Context {
 public:
  explicit Context(SslContext ssl) : ssl_(std::move(ssl)) {}
  const SslContext& ssl() const { return ssl_; }

 private:
  const SslContext ssl_;
};
// Makes a client's context. `http2`: h2 is offered. kInvalid: the CA or the key pair is bad.
Result<SslContext> NewClientContext(const ClientTls& tls, bool http2);

// Makes a context with the settings that servers and clients share.
Result<SslContext> NewContext(const SSL_METHOD* method);
// Sets the certificate chain and key of a context. kInvalid: they do not match.
Status UsePair(SSL_CTX* context, const KeyPair& pair);
// Returns kInvalid with `what` and OpenSSL's reason.
Status SslError(const std::string& what);

// Returns OpenSSL's text for the last error on this thread, and clears its queue.
std::string TakeSslError();

}  // namespace apiserver::inline v0::http
