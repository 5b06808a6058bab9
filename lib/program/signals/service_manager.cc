#include "program/signals/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace apiserver::v0::program {

namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread yet
  return value != nullptr ? value : "";
}

std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

ServiceManager::ServiceManager() : socket_(Variable("NOTIFY_SOCKET")) {
  const auto limit = Number(Variable("WATCHDOG_USEC"));
  const std::string pid = Variable("WATCHDOG_PID");
  // A child of the process that is watched inherits its variables.
  const bool mine = pid.empty() || Number(pid) == static_cast<std::uint64_t>(getpid());
  if (limit && *limit > 1 && mine && !socket_.empty()) {
    period_ = std::chrono::microseconds(*limit / 2);
  }
}

// A name that begins with '@' is in Linux's abstract namespace, where it begins with a zero byte.
void ServiceManager::Notify(const std::string& state) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  (void)sendto(fd, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&address), size);
  close(fd);
}

}  // namespace apiserver::v0::program
