#pragma once  // Library-internal: other rooms include this header.

#include <sys/socket.h>

#include <string>
#include <vector>

#include "apiserver/base/status.h"

// The socket calls that Asio would hide and that we need to see.
namespace apiserver::inline v0::http {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// `host` is an IP literal, or "unix:<path>". kInvalid: it is neither.
Result<Address> ParseAddress(const std::string& host, int port);
// `host` may be a name; waits for the resolver. Never empty.
Result<std::vector<Address>> Resolve(const std::string& host, int port);
// "127.0.0.1:40000", "[::1]:40000", "unix:/run/x.sock"; "@": a Unix socket without a name.
std::string FormatAddress(const Address& address);
int PortOf(const Address& address);
// "127.0.0.1:443", "[::1]:443", "example.com:443"; "unix:<path>" as it is.
std::string JoinHostPort(const std::string& host, int port);

// A bound, listening, non-blocking socket. kConflict: the address is taken.
Result<int> OpenListener(const Address& address);
// The address a socket is bound to.
Address LocalAddress(int fd);
// No delay, and keep-alive probes after three minutes, as Go's.
void ConfigureConnection(int fd);
// A non-blocking socket that connects; writable once that has ended.
Result<int> BeginConnect(const Address& address);
// How it ended.
Status EndConnect(int fd);

}  // namespace apiserver::inline v0::http
