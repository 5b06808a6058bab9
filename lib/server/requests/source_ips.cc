#include "server/requests/source_ips.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "text/ip.h"

namespace apiserver::v0::server {

namespace {

std::string_view TrimSpaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Returns the host of "127.0.0.1:40000" and "[::1]:40000"; the address itself if there is no port.
std::string_view HostOf(std::string_view address) {
  if (address.starts_with('[')) {
    const std::size_t end = address.find(']');
    return end == std::string_view::npos ? address : address.substr(1, end - 1);
  }
  const std::size_t colon = address.find(':');
  if (colon == std::string_view::npos || address.find(':', colon + 1) != std::string_view::npos) {
    return address;
  }
  return address.substr(0, colon);
}

}  // namespace

// Follows utilnet.SourceIPs: X-Forwarded-For, X-Real-Ip, and the connection's own address last. The
// first ones are the client's claims.
std::vector<std::string> SourceIPs(const http::Request& request) {
  std::vector<std::string> ips;
  std::string_view forwarded = request.headers.Get("X-Forwarded-For");
  while (!forwarded.empty()) {
    const std::string_view each = forwarded.substr(0, forwarded.find(','));
    forwarded.remove_prefix(std::min(each.size() + 1, forwarded.size()));
    if (auto ip = text::CanonicalIP(TrimSpaces(each))) ips.push_back(*std::move(ip));
  }
  if (const std::string_view sent = request.headers.Get("X-Real-Ip"); !sent.empty()) {
    auto real = text::CanonicalIP(sent);
    if (real && std::find(ips.begin(), ips.end(), *real) == ips.end()) {
      ips.push_back(*std::move(real));
    }
  }
  if (auto remote = text::CanonicalIP(HostOf(request.remote_address))) {
    if (ips.empty() || ips.back() != *remote) ips.push_back(*std::move(remote));
  }
  return ips;
}

}  // namespace apiserver::v0::server
