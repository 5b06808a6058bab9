#pragma once

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/client/http_client.h"
#include "apiserver/http/tls.h"
#include "http/tls_context.h"

// A server that says exactly what a test makes it say, plain or over TLS.
namespace http_client_test {

using namespace apiserver;          // NOLINT: tests only.
using namespace apiserver::client;  // NOLINT: tests only.

struct TestPki {
  http::KeyPair ca;
  http::KeyPair server;
};

inline http::KeyPair ServerPair(const http::KeyPair& ca, const std::string& name,
                                std::chrono::hours valid_for = std::chrono::hours(1)) {
  return http::NewCertificate(
             ca,
             {.common_name = name, .dns_names = {name}, .ip_addresses = {}, .valid_for = valid_for},
             RealClock())
      .value();
}

// Its server is "server.test".
inline const TestPki& Pki() {
  static const TestPki pki = [] {
    TestPki made;
    made.ca = http::NewCertificateAuthority("test", RealClock()).value();
    made.server = ServerPair(made.ca, "server.test");
    return made;
  }();
  return pki;
}

// One accepted connection.
class Wire {
 public:
  Wire(int fd, SSL_CTX* tls) : fd_(fd) {
    if (tls == nullptr) return;
    // It speaks HTTP/1.1 only, so it must not agree on anything else.
    SSL_CTX_set_alpn_select_cb(tls, nullptr, nullptr);
    ssl_.reset(SSL_new(tls));
    SSL_set_fd(ssl_.get(), fd_);
    alive_ = SSL_accept(ssl_.get()) == 1;
  }

  // Until `text` has come, or the connection is gone; what came, which is then forgotten.
  std::string ReadUntil(std::string_view text) {
    while (alive_ && in_.find(text) == std::string::npos) {
      char buffer[4096];
      const auto got = ssl_ ? SSL_read(ssl_.get(), buffer, sizeof buffer)
                            : ::recv(fd_, buffer, sizeof buffer, 0);
      if (got <= 0) alive_ = false;
      if (got > 0) in_.append(buffer, static_cast<std::size_t>(got));
    }
    return std::exchange(in_, "");
  }
  // False once the peer is gone.
  bool Write(std::string_view bytes) {
    while (alive_ && !bytes.empty()) {
      const auto sent = ssl_ ? SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                             : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        alive_ = false;
      } else {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      }
    }
    return alive_;
  }
  bool alive() const { return alive_; }
  // Breaks the connection off.
  void Reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    alive_ = false;
  }
  // Says that no more comes.
  void Close() {
    if (ssl_) SSL_shutdown(ssl_.get());
    ::shutdown(fd_, SHUT_WR);
    alive_ = false;
  }

 private:
  struct SslFree {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  int fd_;
  std::unique_ptr<SSL, SslFree> ssl_;
  bool alive_ = true;
  std::string in_;
};

// Accepts connections one after the other and lets `speak` have each, until it returns.
class RawServer {
 public:
  using Speak = std::function<void(Wire&)>;

  explicit RawServer(Speak speak, std::shared_ptr<http::ServerTls> tls = nullptr)
      : speak_(std::move(speak)), tls_(std::move(tls)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_, 16) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = Thread("raw-server", [this] { Run(); });
  }
  ~RawServer() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    if (const int fd = current_; fd >= 0) ::shutdown(fd, SHUT_RDWR);
    thread_.Join();
    ::close(listener_);
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int connections() const { return connections_; }

 private:
  void Run() {
    while (!stopping_) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      current_ = fd;
      ++connections_;
      if (!stopping_) {
        Wire wire(fd, tls_ ? tls_->context()->ssl().get() : nullptr);
        speak_(wire);
      }
      current_ = -1;
      ::close(fd);
    }
  }

  Speak speak_;
  std::shared_ptr<http::ServerTls> tls_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> current_{-1};
  std::atomic<int> connections_{0};
  std::atomic<bool> stopping_{false};
  Thread thread_;
};

// What the suite must know of the implementation that its program tests. The words are those that
// may differ.
struct Tested {
  HttpClientFactory factory;
  std::string key_mismatch;
  // The head of a POST of "{}" to `host`/x with Content-Type, User-Agent and X-A.
  std::string (*head)(const std::string& host);
  std::string refused;
  std::string reset;
  // Whether an answer after an interim one (1xx) is found.
  bool reads_interim = false;
  // The reason given for a length, or for framing, beyond what any answer has.
  Reason endless_framing = Reason::kRequestEntityTooLarge;
};
const Tested& Implementation();

inline std::shared_ptr<HttpClient> NewClient(const HttpClientOptions& options = {}) {
  return Implementation().factory(options).value();
}

// For "https://server.test/...", wherever it listens.
inline HttpClientOptions Trusting(const std::string& address) {
  return {.tls = {.ca_pem = Pki().ca.certificate_pem}, .address = address};
}

inline Result<http::ClientResponse> Get(
    HttpClient& client, const std::string& url,
    std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  return client.Call(Context::Background(), {.method = "GET", .url = url, .timeout = timeout});
}

}  // namespace http_client_test
