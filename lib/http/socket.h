#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/http/message.h"
#include "http/fd_watch.h"
#include "http/loop.h"
#include "http/tls_context.h"
#include "http/token_bucket.h"

namespace apiserver::inline v0::http {

enum class Io {
  kOk,
  kWantRead,   // Again when readable.
  kWantWrite,  // Again when writable; a write is repeated with the same bytes in front.
  kClosed,     // The peer has closed, orderly.
  kFailed,
};

struct IoResult {
  Io state = Io::kOk;
  std::size_t bytes = 0;
};

// A connected, non-blocking socket, plain or under TLS. On the loop only. Never raises SIGPIPE.
class Socket final {
 public:
  Socket(Loop& loop, int fd);
  ~Socket();

  Status StartTlsServer(const SslContext& context);
  // `name` is sent as SNI and verified unless the context verifies nobody.
  Status StartTlsClient(const SslContext& context, const std::string& name);
  Io Handshake();

  IoResult Read(std::span<char> into);
  IoResult Write(std::string_view bytes);
  // Says that nothing more will be written.
  void ShutdownWrite();
  void Close();

  void AwaitReadable(std::shared_ptr<FdEvents> who);
  void AwaitWritable(std::shared_ptr<FdEvents> who) { watch_.AwaitWritable(std::move(who)); }

  bool tls() const { return ssl_ != nullptr; }
  // "h2", "http/1.1", or empty.
  std::string_view Alpn() const;
  // The peer's chain; null if it sent none.
  std::shared_ptr<const PeerCertificates> Peer() const;
  // Our end's IP address, without port; empty: unknown.
  std::string LocalIp() const;
  int fd() const { return watch_.fd(); }
  // Whether the peer has broken the connection off.
  bool reset() const { return reset_; }
  // Why the last call failed.
  const std::string& error() const { return error_; }

  // The socket that `ssl` runs on.
  static Socket& Of(const SSL* ssl) { return *static_cast<Socket*>(SSL_get_app_data(ssl)); }
  // The peer has changed its keys, which costs us more than it: too often breaks the connection.
  void CountKeyUpdate();

  // For the BIO between OpenSSL and the descriptor: as recv and send.
  ssize_t Receive(char* into, std::size_t size);
  ssize_t Send(const char* bytes, std::size_t size);

 private:
  struct SslFree {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  Status Attach(const SslContext& context);
  Io Judge(int result);

  Loop& loop_;
  FdWatch watch_;
  std::unique_ptr<SSL, SslFree> ssl_;
  std::string error_;
  TokenBucket key_updates_;
  bool key_update_flood_ = false;
  bool reset_ = false;
  // The last read took all there was: the next one need not ask the kernel.
  bool drained_ = false;
};

}  // namespace apiserver::inline v0::http
