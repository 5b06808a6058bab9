#include "controlplane/kubelet/target.h"

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "apiserver/http/message.h"
#include "base/status_macros.h"
#include "http/net.h"
#include "text/go_path.h"
#include "text/ip.h"

namespace apiserver::v0::controlplane {
namespace {

// net.IP.IsGlobalUnicast of an IPv4 address: private ones are global, too.
bool IsGlobalV4(const std::array<std::uint8_t, 4>& ip) {
  const bool any = std::ranges::all_of(ip, [](std::uint8_t byte) { return byte == 0; });
  const bool broadcast = std::ranges::all_of(ip, [](std::uint8_t byte) { return byte == 0xff; });
  const bool loopback = ip[0] == 127;
  const bool multicast = (ip[0] & 0xf0U) == 0xe0;
  const bool link_local = ip[0] == 169 && ip[1] == 254;
  return !any && !broadcast && !loopback && !multicast && !link_local;
}

bool IsGlobalV6(const in6_addr& ip) {
  if (IN6_IS_ADDR_V4MAPPED(&ip)) {
    std::array<std::uint8_t, 4> v4{};
    std::memcpy(v4.data(), &ip.s6_addr[12], v4.size());
    return IsGlobalV4(v4);
  }
  return !IN6_IS_ADDR_UNSPECIFIED(&ip) && !IN6_IS_ADDR_LOOPBACK(&ip) &&
         !IN6_IS_ADDR_MULTICAST(&ip) && !IN6_IS_ADDR_LINKLOCAL(&ip);
}

bool IsGlobalUnicast(const http::Address& address) {
  if (address.storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &v4->sin_addr, bytes.size());
    return IsGlobalV4(bytes);
  }
  if (address.storage.ss_family != AF_INET6) return false;
  return IsGlobalV6(reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr);
}

// The address without its port: "10.0.0.1", "fe80::1".
std::string IpOf(const http::Address& address) {
  const std::string text = http::FormatAddress(address);
  const std::string ip = text.substr(0, text.rfind(':'));
  return ip.starts_with('[') ? ip.substr(1, ip.size() - 2) : ip;
}

}  // namespace

std::optional<SchemeNamePort> SplitSchemeNamePort(std::string_view id) {
  const std::size_t first = id.find(':');
  SchemeNamePort parts;
  if (first == std::string_view::npos) {
    parts.name = id;
  } else if (const std::size_t second = id.find(':', first + 1); second == std::string_view::npos) {
    parts.name = id.substr(0, first);
    parts.port = id.substr(first + 1);
  } else {
    parts.scheme = id.substr(0, first);
    parts.name = id.substr(first + 1, second - first - 1);
    parts.port = id.substr(second + 1);
  }
  const bool known = parts.scheme.empty() || parts.scheme == "http" || parts.scheme == "https";
  if (parts.name.empty() || !known || parts.port.find(':') != std::string::npos) return {};
  return parts;
}

// Numbers may begin with zeros, as in netutils.ParseIPSloppy.
bool IsGlobalUnicast(std::string_view ip) {
  const auto canonical = text::CanonicalIP(ip);
  if (!canonical) return false;
  const auto address = http::ParseAddress(*canonical, 0);
  return address.ok() && IsGlobalUnicast(*address);
}

Result<std::string> CheckedAddressOf(const std::string& host) {
  const Result<std::vector<http::Address>> addresses =
      host.starts_with("unix:") ? Status(Reason::kInvalid, "no addresses for hostname")
                                : http::Resolve(host, 0);
  if (!addresses.ok()) {
    return Status(Reason::kBadRequest, std::string(addresses.status().message()));
  }
  for (const http::Address& address : *addresses) {
    if (!IsGlobalUnicast(address)) return Status(Reason::kBadRequest, "address not allowed");
  }
  return IpOf(addresses->front());
}

std::string HostPort(std::string_view host, std::string_view port) {
  std::string text;
  if (host.find(':') != std::string_view::npos) {
    text.append("[").append(host).append("]");
  } else {
    text = host;
  }
  if (!port.empty()) text.append(":").append(port);
  return text;
}

std::string PathOf(std::string_view path) {
  if (path.empty()) return "";
  std::string cleaned = text::CleanPath(path);
  if (path.ends_with('/') && !cleaned.ends_with('/')) cleaned += '/';
  return cleaned;
}

void Parameters::Add(std::string_view key, std::string_view value) {
  if (!query_.empty()) query_ += '&';
  query_.append(key).append("=").append(http::PercentEncode(value));
}

void Parameters::AddNumber(std::string_view key, runtime::Value number) {
  if (!number.is_null()) Add(key, std::to_string(number.AsInt()));
}

}  // namespace apiserver::v0::controlplane
