#include "http/net.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>

namespace apiserver::v0::http {
namespace {

// The longest queue of connections that are not accepted yet; the kernel caps it at
// net.core.somaxconn, which is 4096 unless an administrator raised it.
constexpr int kBacklog = 65535;
constexpr std::string_view kUnix = "unix:";

std::string ErrnoText(int code) { return std::generic_category().message(code); }

struct AddrInfoFree {
  void operator()(addrinfo* found) const { freeaddrinfo(found); }
};
using Found = std::unique_ptr<addrinfo, AddrInfoFree>;

// Looks an address up. Returns zero, or an error code of getaddrinfo.
int Look(const std::string& host, int port, int flags, Found& found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* first = nullptr;
  const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first);
  found.reset(first);
  return code;
}

Address AddressOf(const addrinfo& found) {
  Address address;
  address.size = found.ai_addrlen;
  std::memcpy(&address.storage, found.ai_addr, found.ai_addrlen);
  return address;
}

Result<Address> UnixAddress(std::string_view path) {
  sockaddr_un in_files{};
  if (path.empty() || path.size() >= sizeof(in_files.sun_path)) {
    return Status(Reason::kInvalid, "bad address \"" + std::string(kUnix) + std::string(path) +
                                        "\": the path of a socket has 1 to " +
                                        std::to_string(sizeof(in_files.sun_path) - 1) + " bytes");
  }
  in_files.sun_family = AF_UNIX;
  std::memcpy(in_files.sun_path, path.data(), path.size());
  Address address;
  address.size = sizeof(in_files);
  std::memcpy(&address.storage, &in_files, sizeof(in_files));
  return address;
}

Status CloseWith(int fd, const std::string& what, int code) {
  close(fd);
  const Reason reason = code == EADDRINUSE ? Reason::kConflict : Reason::kServiceUnavailable;
  return Status(reason, what + ": " + ErrnoText(code));
}

// Words the error as Go does, "connect: connection refused", because clients match such texts.
Status ConnectFailed(int code) {
  std::string why = ErrnoText(code);
  if (!why.empty() && why[0] >= 'A' && why[0] <= 'Z') why[0] += 'a' - 'A';
  return Status(Reason::kServiceUnavailable, "connect: " + why);
}

}  // namespace

Result<Address> ParseAddress(const std::string& host, int port) {
  if (host.starts_with(kUnix)) return UnixAddress(std::string_view(host).substr(kUnix.size()));
  Found found;
  if (const int code = Look(host, port, AI_NUMERICHOST | AI_PASSIVE, found); code != 0) {
    return Status(Reason::kInvalid, "bad address \"" + host + "\": " + gai_strerror(code));
  }
  return AddressOf(*found);
}

Result<std::vector<Address>> Resolve(const std::string& host, int port) {
  Found found;
  const int code = Look(host, port, 0, found);
  if (code != 0) {
    const std::string why = code == EAI_NONAME ? "no such host" : gai_strerror(code);
    return Status(Reason::kServiceUnavailable, "dial tcp: lookup " + host + ": " + why);
  }
  std::vector<Address> addresses;
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    addresses.push_back(AddressOf(*each));
  }
  return addresses;
}

std::string FormatAddress(const Address& address) {
  if (address.storage.ss_family == AF_UNIX) {
    // A client's side of a Unix socket has no address.
    const auto* in_files = reinterpret_cast<const sockaddr_un*>(&address.storage);
    return address.size > offsetof(sockaddr_un, sun_path)
               ? std::string(kUnix) + static_cast<const char*>(in_files->sun_path)
               : std::string("@");
  }
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
  if (address.storage.ss_family == AF_UNIX) return 0;
  if (address.storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

std::string JoinHostPort(const std::string& host, int port) {
  if (host.starts_with(kUnix)) return host;
  const bool in6 = host.find(':') != std::string::npos;
  return (in6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<int> OpenListener(const Address& address) {
  const bool in_files = address.storage.ss_family == AF_UNIX;
  const int fd = socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                        in_files ? 0 : IPPROTO_TCP);
  if (fd < 0) return Status(Reason::kServiceUnavailable, "socket: " + ErrnoText(errno));
  const int on = 1;
  const int off = 0;
  if (in_files) {
    // bind() makes the file with this mode, so that there is no moment in which others may connect.
    (void)fchmod(fd, S_IRUSR | S_IWUSR);
  } else {
    // A restarted server gets its port although old connections are still in TIME_WAIT.
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  }
  // "::" serves IPv4 clients too, as Go's listener does.
  if (address.storage.ss_family == AF_INET6) {
    (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  const std::string where = "listen on " + FormatAddress(address);
  if (bind(fd, address.get(), address.size) != 0) return CloseWith(fd, where, errno);
  if (listen(fd, kBacklog) != 0) return CloseWith(fd, where, errno);
  return fd;
}

Result<int> AdoptListener(int fd) {
  int listens = 0;
  socklen_t size = sizeof(listens);
  const bool known = getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0;
  const int flags = fcntl(fd, F_GETFL);
  if (!known || listens == 0 || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
      fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    if (flags >= 0) close(fd);
    return Status(Reason::kInvalid,
                  "descriptor " + std::to_string(fd) + " is no stream socket that listens");
  }
  return fd;
}

Address LocalAddress(int fd) {
  Address address;
  address.size = sizeof(address.storage);
  (void)getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size);
  return address;
}

// Answers are written in one piece, so that Nagle's algorithm would only delay them. The probes
// find peers that vanished without a word.
void ConfigureConnection(int fd) {
  const int on = 1;
  const int idle_seconds = 180;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof(idle_seconds));
}

Result<int> BeginConnect(const Address& address) {
  const int fd = socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return ConnectFailed(errno);
  if (connect(fd, address.get(), address.size) != 0 && errno != EINPROGRESS) {
    const int code = errno;
    close(fd);
    return ConnectFailed(code);
  }
  if (address.storage.ss_family != AF_UNIX) ConfigureConnection(fd);
  return fd;
}

Status EndConnect(int fd) {
  int code = 0;
  socklen_t size = sizeof(code);
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) != 0) code = errno;
  return code == 0 ? Status::Ok() : ConnectFailed(code);
}

}  // namespace apiserver::v0::http
