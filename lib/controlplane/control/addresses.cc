#include "controlplane/control/addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "text/ip.h"

namespace apiserver::v0::controlplane {
namespace {

using Bytes = std::array<unsigned char, 16>;

std::string Printed(const Bytes& bytes, bool v6) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_ntop(v6 ? AF_INET6 : AF_INET, bytes.data(), text.data(), text.size()) == nullptr) {
    return "";
  }
  return text.data();
}

void ClearBits(int prefix, int bits, Bytes& bytes) {
  for (int i = prefix; i < bits; ++i) {
    bytes[i / 8] = static_cast<unsigned char>(bytes[i / 8] & ~(0x80 >> i % 8));
  }
}

// An address of an interface that is up.
struct HostAddress {
  std::string interface;
  std::string ip;
};

std::vector<HostAddress> HostAddresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, freeifaddrs);
  std::vector<HostAddress> addresses;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    const bool up = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_LOOPBACK) == 0;
    if (!up || each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const auto* const address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    if (inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size()) == nullptr) continue;
    addresses.push_back({.interface = each->ifa_name, .ip = text.data()});
  }
  return addresses;
}

// Returns the interface of the default route of IPv4. Empty: there is none.
std::string DefaultInterface(const FileSystem& files) {
  const auto routes = files.Read("/proc/net/route");
  if (!routes.ok()) return "";
  std::istringstream lines(*routes);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string interface, destination;
    if (words >> interface >> destination && destination == "00000000") return interface;
  }
  return "";
}

bool IsSpecific(const std::string& ip) {
  return ip != "0.0.0.0" && ip != "::" && ip != "::1" && !ip.starts_with("127.");
}

}  // namespace

Result<ServiceRange> ParseServiceRange(std::string_view cidr) {
  const Status bad(Reason::kInvalid, "invalid CIDR address: " + std::string(cidr));
  const std::size_t slash = cidr.find('/');
  if (!text::IsCidr(cidr) || slash == std::string_view::npos) return bad;
  const std::string ip(cidr.substr(0, slash));
  const bool v6 = text::IsIpv6(ip);
  const int bits = v6 ? 128 : 32;
  int prefix = 0;
  std::from_chars(cidr.data() + slash + 1, cidr.data() + cidr.size(), prefix);
  Bytes bytes{};
  if (inet_pton(v6 ? AF_INET6 : AF_INET, ip.c_str(), bytes.data()) != 1) return bad;
  ClearBits(prefix, bits, bytes);
  ServiceRange range{.text = Printed(bytes, v6) + "/" + std::to_string(prefix),
                     .v6 = v6,
                     .free_bits = bits - prefix};
  bytes[bits / 8 - 1] |= 1;
  range.first_ip = Printed(bytes, v6);
  return range;
}

Result<std::string> ExternalAddressOf(const std::string& bind_address, const FileSystem& files) {
  if (IsSpecific(bind_address)) return bind_address;
  const std::vector<HostAddress> addresses = HostAddresses();
  const std::string interface = DefaultInterface(files);
  for (const HostAddress& each : addresses) {
    if (each.interface == interface) return each.ip;
  }
  if (!addresses.empty()) return addresses.front().ip;
  return Status(Reason::kNotFound,
                "Unable to find suitable network address.error='no default routes found'. Try to "
                "set the AdvertiseAddress directly or provide a valid BindAddress to fix this.");
}

}  // namespace apiserver::v0::controlplane
