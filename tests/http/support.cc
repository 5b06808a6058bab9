#include "support.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace http_test {

const TestPki& Pki() {
  static const TestPki pki = [] {
    TestPki made;
    made.ca = NewCertificateAuthority("test-ca", RealClock()).value();
    made.server = NewCertificate(made.ca,
                                 {.common_name = "server",
                                  .dns_names = {"localhost"},
                                  .ip_addresses = {"127.0.0.1", "::1"}},
                                 RealClock())
                      .value();
    made.client =
        NewCertificate(
            made.ca, {.common_name = "admin", .organizations = {"system:masters"}, .client = true},
            RealClock())
            .value();
    return made;
  }();
  return pki;
}

TestServer::TestServer(const Service& service, Wire wire, ListenerOptions options)
    : wire_(wire), dialer_(NewDialer()) {
  const bool tls = wire == Wire::kTlsHttp1 || wire == Wire::kTlsHttp2;
  if (tls && !options.tls) options.tls = NewServerTls(Pki().server).value();
  auto listening = Listen(std::move(options), service);
  REQUIRE(listening.ok());
  listener_ = std::move(*listening);
}

TestServer::~TestServer() = default;

DialOptions TestServer::dial_options() const {
  DialOptions options;
  options.port = listener_->port();
  options.http2 = wire_ == Wire::kHttp2 || wire_ == Wire::kTlsHttp2;
  if (wire_ == Wire::kTlsHttp1 || wire_ == Wire::kTlsHttp2) {
    options.tls = ClientTls{.ca_pem = Pki().ca.certificate_pem};
  }
  return options;
}

std::unique_ptr<Connection> TestServer::Connect(std::size_t window_bytes) {
  DialOptions options = dial_options();
  options.window_bytes = window_bytes;
  auto connection = dialer_->Dial(Soon(), options);
  INFO(connection.status().ToString());
  REQUIRE(connection.ok());
  return std::move(*connection);
}

std::size_t HeapBytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

RawClient::RawClient(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  BePatient();
}

RawClient::RawClient(Connected connected) : fd_(connected.fd) { BePatient(); }

void RawClient::BePatient() {
  const timeval patience{60, 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

RawClient::~RawClient() { close(fd_); }

void RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;  // The server has closed: what it said is looked at next.
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void RawClient::CloseWrite() { shutdown(fd_, SHUT_WR); }

std::size_t RawClient::SendSome(std::string_view bytes) {
  std::size_t sent = 0;
  for (pollfd writable{fd_, POLLOUT, 0}; sent < bytes.size() && poll(&writable, 1, 300) == 1;) {
    const std::string_view rest = bytes.substr(sent);
    const ssize_t count = send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  return sent;
}

std::string RawClient::Receive() {
  std::string buffer(16 << 10, '\0');
  const ssize_t count = recv(fd_, buffer.data(), buffer.size(), 0);
  buffer.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return buffer;
}

std::string RawClient::ReadAll() {
  for (;;) {
    const std::string more = Receive();
    if (more.empty()) return std::exchange(read_, {});
    read_ += more;
  }
}

std::string RawClient::ReadUntil(std::string_view text) {
  while (read_.find(text) == std::string::npos) {
    const std::string more = Receive();
    if (more.empty()) break;
    read_ += more;
  }
  return std::exchange(read_, {});
}

void RawClient::Reset() {
  const linger hard{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  close(std::exchange(fd_, -1));
}

RawServer::RawServer() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&at), size) == 0);
  REQUIRE(listen(fd_, 16) == 0);
  REQUIRE(getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size) == 0);
  port_ = ntohs(at.sin_port);
}

RawServer::~RawServer() { close(fd_); }

RawClient RawServer::Accept() {
  const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  REQUIRE(fd >= 0);
  return RawClient(RawClient::Connected{fd});
}

Step Answer(Exchange& exchange, std::string body) {
  ResponseHead head;
  head.headers.Add("Content-Type", "text/plain");
  exchange.writer().Send(std::move(head), std::move(body));
  return Step::Done();
}

}  // namespace http_test
