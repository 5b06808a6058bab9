#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "cel/function.h"
#include "cel/types/spell.h"

// IP addresses and networks as values: Go's netip.Addr and netip.Prefix.
namespace apiserver::inline v0::cel::functions {

inline constexpr TypeNode kIpType = types::Opaque("net.IP");

// An address without zone. A value type.
struct IpAddress {
  bool v4 = false;
  std::array<std::uint8_t, 16> bytes = {};  // Of IPv4 the first four; the others are 0.

  // The length of an address: 32 or 128.
  int bits() const { return v4 ? 32 : 128; }
  // True for ::ffff:192.0.2.1.
  bool is_mapped_v4() const;
  // Prints the canonical text.
  std::string ToString() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// Every value of type net.IP holds an IpAddress.
extern const OpaqueKind kIpKind;
Value MakeIp(CallContext& call, const IpAddress& address);

// Reads an address that Go's netip.ParseAddr accepts and that has no zone.
IpAddress ReadValidIp(std::string_view text);
// Reads an address as Kubernetes does. False: `error` has its words.
bool ParseIp(std::string_view text, IpAddress& address, std::string& error);

// The costs of every function named "ip": reading a text costs its traversal, reading the address
// of a network 1.
inline constexpr std::string_view kIpOfCidr = "cidr_ip";
std::optional<std::uint64_t> CostOfIp(const CostCall& call);
std::optional<CallEstimate> EstimateIp(const EstimateCall& call);

}  // namespace apiserver::inline v0::cel::functions
