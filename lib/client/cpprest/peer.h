#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/http/tls.h"
#include "http/pem.h"

// TLS to a server, below cpprestsdk: it makes an SSL_CTX for every connection, which is configured
// here with the settings that it has no options for.
namespace apiserver::inline v0::client {

struct StoreFree {
  void operator()(X509_STORE* store) const { X509_STORE_free(store); }
};

// Read once for all connections of a client. Immutable.
struct TlsMaterial {
  std::unique_ptr<X509_STORE, StoreFree> authorities;  // Null: the machine's.
  std::vector<http::Certificate> chain;                // Empty: no client certificate.
  http::PrivateKey key;
  std::string server_name;  // Empty: the URL's host.
};

// kInvalid: a file cannot be read; the message names it.
Result<std::shared_ptr<const TlsMaterial>> ReadTlsMaterial(const http::ClientTls& tls);

// The other end of one connection: the name it must prove, and the bytes it has sent. Shared with
// the connection's SSL_CTX, whose callbacks run on cpprestsdk's threads.
class Peer {
 public:
  Peer(std::shared_ptr<const TlsMaterial> material, std::string name)
      : material_(std::move(material)), name_(std::move(name)) {}

  // Configures `context`, which cpprestsdk has just made, for this peer. Throws if OpenSSL fails.
  static void Prepare(const std::shared_ptr<Peer>& peer, SSL_CTX* context);

  // Limits the bytes that the peer may send from now on; `on_excess` is called once if it sends
  // more. It must not touch the connection: it is called in the middle of a read.
  void Allow(std::size_t bytes, UniqueFunction<void()> on_excess);
  // Returns TLS's reason for a missing connection; empty: it has none.
  std::string Why() const { return *why_.Lock(); }

 private:
  static void OnInfo(const SSL* ssl, int where, int result);
  // NOLINTNEXTLINE(readability-function-size): the parameters are OpenSSL's
  static void OnMessage(int written, int version, int type, const void* bytes, std::size_t size,
                        SSL* ssl, void* peer);
  void Begin(SSL* ssl) const;
  void Count(std::size_t bytes);

  const std::shared_ptr<const TlsMaterial> material_;
  const std::string name_;
  std::atomic<std::size_t> left_{0};
  Guarded<UniqueFunction<void()>> on_excess_;
  Guarded<std::string> why_;
};

}  // namespace apiserver::inline v0::client
