#include "http/net.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace apiserver::inline v0::http {
namespace {

constexpr int kBacklog = 4096;

std::string ErrnoText(int code) { return std::generic_category().message(code); }

Result<Address> Look(const std::string& host, int port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) {
    return Status(Reason::kInvalid, "bad address \"" + host + "\": " + gai_strerror(code));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  Address address;
  address.size = found->ai_addrlen;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  return address;
}

Status CloseWith(int fd, const std::string& what, int code) {
  close(fd);
  const Reason reason = code == EADDRINUSE ? Reason::kConflict : Reason::kServiceUnavailable;
  return Status(reason, what + ": " + ErrnoText(code));
}

}  // namespace

Result<Address> ParseAddress(const std::string& host, int port) {
  return Look(host, port, AI_NUMERICHOST | AI_PASSIVE);
}

Result<Address> Resolve(const std::string& host, int port) { return Look(host, port, 0); }

std::string FormatAddress(const Address& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.storage.ss_family == AF_INET6) {
    const auto* in6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
    inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(in6->sin6_port));
  }
  const auto* in = reinterpret_cast<const sockaddr_in*>(&address.storage);
  inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
  return std::string(text) + ":" + std::to_string(ntohs(in->sin_port));
}

int PortOf(const Address& address) {
  if (address.storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

Result<int> OpenListener(const Address& address) {
  const int fd =
      socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (fd < 0) return Status(Reason::kServiceUnavailable, "socket: " + ErrnoText(errno));
  const int on = 1;
  const int off = 0;
  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.storage.ss_family == AF_INET6) {
    (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  const std::string where = "listen on " + FormatAddress(address);
  if (bind(fd, address.get(), address.size) != 0) return CloseWith(fd, where, errno);
  if (listen(fd, kBacklog) != 0) return CloseWith(fd, where, errno);
  return fd;
}

Address LocalAddress(int fd) {
  Address address;
  address.size = sizeof(address.storage);
  (void)getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size);
  return address;
}

void ConfigureConnection(int fd) {
  const int on = 1;
  const int idle_seconds = 180;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof(idle_seconds));
}

Result<int> Connect(const Address& address, std::chrono::milliseconds timeout) {
  const int fd =
      socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (fd < 0) return Status(Reason::kServiceUnavailable, "socket: " + ErrnoText(errno));
  const std::string where = "connect to " + FormatAddress(address);
  if (connect(fd, address.get(), address.size) != 0) {
    if (errno != EINPROGRESS) return CloseWith(fd, where, errno);
    pollfd waiting{fd, POLLOUT, 0};
    const auto limit = std::clamp<std::int64_t>(timeout.count(), 0, 1 << 30);
    if (poll(&waiting, 1, static_cast<int>(limit)) != 1) {
      return CloseWith(fd, where, ETIMEDOUT);
    }
    int code = 0;
    socklen_t size = sizeof(code);
    (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size);
    if (code != 0) return CloseWith(fd, where, code);
  }
  ConfigureConnection(fd);
  return fd;
}

}  // namespace apiserver::inline v0::http
