#pragma once  // Library-internal: other rooms include this header.

#include <optional>
#include <string>
#include <string_view>

#include "text/read.h"

// Addresses of the Internet and their networks.
namespace apiserver::inline v0::text {

enum class IpFamily { kV4, kV6 };

// The family of the address that `text` is: "192.0.2.1", "fe80::1%eth0". As Go's netip.ParseAddr,
// with its words.
Read<IpFamily> ParseGoIp(std::string_view text);

bool IsIpv4(std::string_view text);
// Without a zone.
bool IsIpv6(std::string_view text);
// "192.0.2.0/24", "2001:db8::/32": an address without a zone and how many bits count.
bool IsCidr(std::string_view text);

// An address as Go's net.IP prints it: in the shortest form, IPv4 within IPv6 as IPv4. nullopt: not
// an address, or one with a zone. Numbers of IPv4 may begin with zeros, as Kubernetes'
// ParseIPSloppy lets them.
std::optional<std::string> CanonicalIP(std::string_view text);

}  // namespace apiserver::inline v0::text
