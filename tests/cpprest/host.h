#pragma once

#include <arpa/inet.h>
#include <cpprest/http_listener.h>
#include <netinet/in.h>
#include <pplx/threadpool.h>
#include <sys/socket.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/cpprest/mount.h"
#include "apiserver/http/dialer.h"
#include "free_port.h"

// A host program's listener with a server mounted in it, and who talks to it.
namespace apiserver::inline v0::testing {

inline constexpr auto kPatience = std::chrono::seconds(60);

inline sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// Limits cpprestsdk's pool to four threads. Its default of 40 wait on one condition variable, and
// glibc before 2.41 now and then loses a wake-up among so many (sourceware.org bug 25847): the
// listener then never closes.
inline void StartFewThreads() {
  [[maybe_unused]] static const bool started = [] {
    crossplat::threadpool::initialize_with_threads(4);
    return true;
  }();
}

// A host's listener with a service mounted in it.
struct Host {
  explicit Host(const http::Service& service, const std::string& path = "/",
                cpprest::MountOptions options = {.tls = false}) {
    StartFewThreads();
    for (int i = 0; i < 20 && !listener; ++i) {
      port = FreePort();
      auto tried = std::make_unique<web::http::experimental::listener::http_listener>(
          web::uri("http://127.0.0.1:" + std::to_string(port) + path));
      mount = cpprest::MountOn(*tried, service, options);
      try {
        tried->open().get();
        listener = std::move(tried);
      } catch (const std::exception&) {  // Somebody else has the port now.
      }
    }
    REQUIRE(listener);
  }
  ~Host() { Close(); }
  void Close() {
    mount->Stop();
    if (listener) listener->close().get();
    listener = nullptr;
  }
  std::unique_ptr<http::Connection> Connect() {
    auto connection = dialer->Dial(Soon(), {.port = port, .http2 = false});
    REQUIRE(connection.ok());
    return std::move(*connection);
  }
  static Context Soon() {
    return Context::Child(Context::Background(), RealClock().Now() + kPatience);
  }
  http::ClientResponse Call(const std::string& method, const std::string& target,
                            const std::string& body = "", http::Headers headers = {}) {
    auto got = Connect()->Call(Soon(), {method, target, std::move(headers), body});
    INFO(got.status().ToString());
    REQUIRE(got.ok());
    return *std::move(got);
  }

  int port = 0;
  std::unique_ptr<http::Dialer> dialer = http::NewDialer();
  std::unique_ptr<cpprest::Mount> mount;
  std::unique_ptr<web::http::experimental::listener::http_listener> listener;
};

// A socket that says exactly what it is told.
struct RawPeer {
  explicit RawPeer(int port) : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in address = Loopback(port);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  ~RawPeer() { ::close(fd); }
  bool Send(std::string_view bytes) const {
    return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // Until `text` has come, or nothing more will.
  std::string ReadUntil(std::string_view text) const {
    std::string read;
    char piece[4096];
    while (read.find(text) == std::string::npos) {
      const auto got = ::recv(fd, piece, sizeof piece, 0);
      if (got <= 0) break;
      read.append(piece, static_cast<std::size_t>(got));
    }
    return read;
  }
  int fd;
};

}  // namespace apiserver::inline v0::testing
