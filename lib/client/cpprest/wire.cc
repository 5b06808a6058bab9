#include "client/cpprest/wire.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <system_error>

namespace apiserver::v0::client {
namespace {

// Returns the cookie of a socket, which is never 0.
std::uint64_t CookieOf(int descriptor) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof(cookie);
  return getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

}  // namespace

void Wire::Use(Tcp::socket& socket) {
  auto state = state_.Lock();
  if (state->cut) throw std::system_error(std::make_error_code(std::errc::operation_canceled));
  if (!socket.is_open()) socket.open(protocol_);
  state->descriptor = socket.native_handle();
  state->cookie = CookieOf(state->descriptor);
}

int Wire::CopyOfDescriptor(const State& state) {
  if (state.cookie == 0) return -1;
  const int copy = fcntl(state.descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0 || CookieOf(copy) == state.cookie) return copy;
  close(copy);
  return -1;
}

bool Wire::Connected() {
  const auto state = state_.Lock();
  const int copy = CopyOfDescriptor(*state);
  if (copy < 0) return false;
  sockaddr_storage peer = {};
  socklen_t size = sizeof(peer);
  const bool connected = getpeername(copy, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
  close(copy);
  return connected;
}

void Wire::Cut() {
  auto state = state_.Lock();
  state->cut = true;
  const int copy = CopyOfDescriptor(*state);
  if (copy < 0) return;
  shutdown(copy, SHUT_RDWR);
  close(copy);
}

}  // namespace apiserver::v0::client
