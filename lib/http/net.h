#pragma once  // Library-internal: other rooms include this header.

#include <sys/socket.h>

#include <string>
#include <vector>

#include "apiserver/base/status.h"

// Socket calls whose details matter here and that Asio would hide: modes of Unix sockets, several
// addresses of a name, errors in Go's words.
namespace apiserver::inline v0::http {

// A socket address: IPv4, IPv6 or Unix.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// Parses `host`: an IP literal, or "unix:<path>". kInvalid: it is neither.
Result<Address> ParseAddress(const std::string& host, int port);
// Parses `host` or looks it up if it is a name, and waits for the resolver. The result is never
// empty.
Result<std::vector<Address>> Resolve(const std::string& host, int port);
// Formats an address: "127.0.0.1:40000", "[::1]:40000", "unix:/run/x.sock"; "@": a Unix socket
// without a name.
std::string FormatAddress(const Address& address);
// Returns the port. Zero: a Unix socket.
int PortOf(const Address& address);
// Joins a host and a port: "127.0.0.1:443", "[::1]:443", "example.com:443". Returns "unix:<path>"
// as it is.
std::string JoinHostPort(const std::string& host, int port);

// Opens a bound, listening, non-blocking socket. kConflict: the address is taken.
Result<int> OpenListener(const Address& address);
// Takes over a stream socket that listens, and makes it non-blocking and close-on-exec. kInvalid:
// it is none; it is closed then.
Result<int> AdoptListener(int fd);
// Returns the address that a socket is bound to.
Address LocalAddress(int fd);
// Sets TCP_NODELAY, and keep-alive probes after three minutes, as Go does.
void ConfigureConnection(int fd);
// Opens a non-blocking socket that connects. It becomes writable once the attempt has ended.
Result<int> BeginConnect(const Address& address);
// Returns how the attempt of a writable socket ended.
Status EndConnect(int fd);

}  // namespace apiserver::inline v0::http
