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

// The outcome of one call on a socket.
enum class Io {
  kOk,
  kWantRead,   // The call must be repeated when the socket is readable.
  kWantWrite,  // The call must be repeated when it is writable; of a write, Flush() goes on.
  kClosed,     // The peer has ended its direction in order.
  kFailed,
};

struct IoResult {
  Io state = Io::kOk;
  std::size_t bytes = 0;
};

// A connected, non-blocking socket, plain or under TLS. Used on the loop only. It never raises
// SIGPIPE, which a library must not leave to its host.
class Socket final {
 public:
  // Owns `fd` from now on.
  Socket(Loop& loop, int fd);
  ~Socket();

  // Prepares TLS; Handshake() follows.
  Status StartTlsServer(const SslContext& context);
  // Prepares TLS. `name` is sent as SNI, and verified unless the context does not verify servers.
  Status StartTlsClient(const SslContext& context, const std::string& name);
  // Goes on with the handshake; without TLS there is none.
  Io Handshake();
  // Returns whether a handshake has begun, by a hello that was sent or has come.
  bool greeted() const;

  IoResult Read(std::span<char> into);
  // Sends `bytes`, under TLS all records in one send. The bytes that the kernel does not take are
  // kept, and must have left before the next call. The result counts those that the kernel took.
  IoResult Write(std::string_view bytes);
  // Sends the bytes that are kept.
  IoResult Flush();
  // Returns the size of the last write that is kept, until all of it has left: encrypted under TLS.
  std::size_t unsent() const { return unsent_.size(); }
  void DropUnsent();
  // Ends this side's direction.
  void ShutdownWrite();
  // Closes the descriptor. Waits end without a call.
  void Close();

  void AwaitReadable(std::shared_ptr<FdEvents> who);
  // Notes that a wait for input is over: the next read asks the kernel.
  void NoteReadable() { drained_ = false; }
  void AwaitWritable(std::shared_ptr<FdEvents> who) { watch_.AwaitWritable(std::move(who)); }

  bool tls() const { return ssl_ != nullptr; }
  // Returns the protocol agreed on in the handshake: "h2", "http/1.1", or empty.
  std::string_view Alpn() const;
  // Returns the peer's certificates. Null: it sent none.
  std::shared_ptr<const PeerCertificates> Peer() const;
  // Returns the IP address of this side, without port. Empty: it is unknown.
  std::string LocalIp() const;
  int fd() const { return watch_.fd(); }
  // Returns whether the peer has reset the connection.
  bool reset() const { return reset_; }
  // Returns why the last call failed.
  const std::string& error() const { return error_; }

  // Returns the socket that `ssl` runs on.
  static Socket& Of(const SSL* ssl) { return *static_cast<Socket*>(SSL_get_app_data(ssl)); }
  // Counts that the peer has changed its keys, which costs this side more than the peer. Too many
  // changes break the connection.
  void CountKeyUpdate();

  // Called by the BIO between OpenSSL and the descriptor, with the results of recv and send. They
  // do not throw.
  ssize_t Receive(char* into, std::size_t size);
  ssize_t Send(const char* bytes, std::size_t size);

 private:
  struct SslFree {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  Status Attach(const SslContext& context);
  // Translates a result of OpenSSL.
  Io Judge(int result);
  // Encrypts `bytes` into `records`.
  Io Encrypt(std::string_view bytes, std::string& records);
  // Sends from the front of `bytes` until the kernel takes no more.
  IoResult SendSome(std::string_view bytes);

  Loop& loop_;
  FdWatch watch_;
  std::unique_ptr<SSL, SslFree> ssl_;
  std::string error_;
  std::string* records_ = nullptr;  // Takes the records of OpenSSL. Null: they are sent at once.
  std::string unsent_;              // The end of a write that the kernel has not taken.
  std::size_t unsent_at_ = 0;       // The part of it that has left since.
  TokenBucket key_updates_;
  bool key_update_flood_ = false;
  bool reset_ = false;
  // Set if the last read took all there was, so that the next one need not ask the kernel.
  bool drained_ = false;
};

}  // namespace apiserver::inline v0::http
