#include "overload/raw_tls.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace overload {

namespace {

using SslContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using Ssl = std::unique_ptr<SSL, decltype(&SSL_free)>;

class Socket {
 public:
  explicit Socket(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { close(fd_); }
  int fd() const { return fd_; }
  bool connected() const { return connected_; }

 private:
  int fd_;
  bool connected_ = false;
};

class OpenSslTls final : public RawTls {
 public:
  explicit OpenSslTls(int port)
      : socket_(port),
        context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free),
        ssl_(SSL_new(context_.get()), &SSL_free) {
    SSL_set_fd(ssl_.get(), socket_.fd());
  }
  bool Handshake() { return socket_.connected() && SSL_connect(ssl_.get()) == 1; }
  bool Write(std::string_view bytes) override {
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
  }

 private:
  Socket socket_;
  SslContext context_;
  Ssl ssl_;
};

}  // namespace

std::unique_ptr<RawTls> DialRaw(int port) {
  auto tls = std::make_unique<OpenSslTls>(port);
  if (!tls->Handshake()) return nullptr;
  return tls;
}

void BeginHandshake(int port) {
  const Socket socket(port);
  if (!socket.connected()) return;
  // The head of a ClientHello that promises 508 more bytes.
  constexpr char kHello[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
  (void)send(socket.fd(), kHello, sizeof(kHello) - 1, MSG_NOSIGNAL);
}

}  // namespace overload
