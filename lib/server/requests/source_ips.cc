#include "server/requests/source_ips.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace apiserver::v0::server {

namespace {

std::string_view TrimSpaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<std::string> CanonicalIPv4(std::string_view text) {
  std::string canonical;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
      canonical += '.';
    }
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number > 255) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    canonical += std::to_string(number);
  }
  if (!text.empty()) return std::nullopt;
  return canonical;
}

// The host of "127.0.0.1:40000" and "[::1]:40000"; as it is if there is no port.
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

std::optional<std::string> CanonicalIP(std::string_view text) {
  if (text.find(':') == std::string_view::npos) return CanonicalIPv4(text);
  in6_addr address{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), &address) != 1) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> printed{};
  if (inet_ntop(AF_INET6, &address, printed.data(), printed.size()) == nullptr) return std::nullopt;
  std::string canonical(printed.data());
  constexpr std::string_view kMapped = "::ffff:";
  if (IN6_IS_ADDR_V4MAPPED(&address)) canonical.erase(0, kMapped.size());
  return canonical;
}

std::vector<std::string> SourceIPs(const http::Request& request) {
  std::vector<std::string> ips;
  std::string_view forwarded = request.headers.Get("X-Forwarded-For");
  while (!forwarded.empty()) {
    const std::string_view each = forwarded.substr(0, forwarded.find(','));
    forwarded.remove_prefix(std::min(each.size() + 1, forwarded.size()));
    if (auto ip = CanonicalIP(TrimSpaces(each))) ips.push_back(*std::move(ip));
  }
  if (auto real = CanonicalIP(request.headers.Get("X-Real-Ip"))) {
    if (std::find(ips.begin(), ips.end(), *real) == ips.end()) ips.push_back(*std::move(real));
  }
  if (auto remote = CanonicalIP(HostOf(request.remote_address))) {
    if (ips.empty() || ips.back() != *remote) ips.push_back(*std::move(remote));
  }
  return ips;
}

}  // namespace apiserver::v0::server
