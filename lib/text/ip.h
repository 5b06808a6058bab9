#pragma once  // Library-internal: other rooms include this header.

#include <optional>
#include <string>
#include <string_view>

#include "text/read.h"

// IP addresses and networks.
namespace apiserver::inline v0::text {

enum class IpFamily { kV4, kV6 };

// Returns the family of an address: "192.0.2.1", "fe80::1%eth0". As Go's netip.ParseAddr, with its
// errors.
Read<IpFamily> ParseGoIp(std::string_view text);

bool IsIpv4(std::string_view text);
// The same for IPv6; addresses with a zone are refused.
bool IsIpv6(std::string_view text);
// True for an address without a zone and the length of its prefix: "192.0.2.0/24", "2001:db8::/32".
bool IsCidr(std::string_view text);

// Returns an address as Go's net.IP prints it: in the shortest form, IPv4 within IPv6 as IPv4.
// nullopt: not an address, or one with a zone. Numbers of IPv4 may begin with zeros, as in
// Kubernetes' ParseIPSloppy.
std::optional<std::string> CanonicalIP(std::string_view text);

}  // namespace apiserver::inline v0::text
