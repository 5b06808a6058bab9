#include "apiserver/program/signals/passed_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "http/net.h"

namespace apiserver::v0::program {

namespace {

// SD_LISTEN_FDS_START: the first descriptor behind standard input, output and error.
constexpr int kFirst = 3;
constexpr const char* kVariables[] = {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"};

std::string Passed(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread yet
  return value != nullptr ? value : "";
}

std::optional<int> Whole(std::string_view text) {
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

Status Unusable(const std::string& what) {
  return {Reason::kInvalid,
          "socket activation: " + what +
              "; name one ListenStream=<address>:<port> in the .socket unit, or disable that unit"};
}

// Returns one option of a socket. Negative: it is no socket.
int OptionOf(int fd, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

Result<PassedSocket> Inspect(int fd, const std::string& name) {
  const std::string what =
      "descriptor " + std::to_string(fd) + (name.empty() ? "" : " (" + name + ")");
  if (OptionOf(fd, SO_TYPE) < 0) return Unusable(what + " is no socket");
  if (OptionOf(fd, SO_TYPE) != SOCK_STREAM) return Unusable(what + " is no stream socket");
  if (OptionOf(fd, SO_ACCEPTCONN) != 1) return Unusable(what + " does not listen");
  const http::Address local = http::LocalAddress(fd);
  std::string address = http::FormatAddress(local);
  if (local.storage.ss_family != AF_INET && local.storage.ss_family != AF_INET6) {
    return Unusable(what + " is at " + address + ", which is no IP address");
  }
  address.resize(address.rfind(':'));
  if (address.starts_with('[')) address = address.substr(1, address.size() - 2);
  return PassedSocket{.fd = fd, .address = std::move(address), .port = http::PortOf(local)};
}

}  // namespace

Result<std::optional<PassedSocket>> TakePassedSocket() {
  const std::string count = Passed("LISTEN_FDS");
  const std::string names = Passed("LISTEN_FDNAMES");
  if (count.empty() || Whole(Passed("LISTEN_PID")) != getpid())
    return std::optional<PassedSocket>();
  for (const char* name : kVariables) unsetenv(name);  // NOLINT(concurrency-mt-unsafe): likewise
  const auto sockets = Whole(count);
  if (!sockets || *sockets < 0) return Unusable("LISTEN_FDS is " + count);
  for (int fd = kFirst; fd - kFirst < *sockets && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;) ++fd;
  if (*sockets == 0) return Unusable("no socket was passed");
  if (*sockets > 1) {
    return Unusable(count + " sockets were passed" + (names.empty() ? "" : " (" + names + ")") +
                    ", and the server listens on one");
  }
  auto socket = Inspect(kFirst, names);
  if (!socket.ok()) return socket.status();
  return std::optional(*std::move(socket));
}

}  // namespace apiserver::v0::program
