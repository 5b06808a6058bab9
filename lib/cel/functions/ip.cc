#include "cel/functions/common.h"
#include "cel/functions/ip_address.h"
#include "cel/functions/libraries.h"

// k8s.io/apiserver/pkg/cel/library/ip.go.
namespace apiserver::v0::cel::functions {
namespace ip_rows {
namespace {

using types::kBool;
using types::kInt;
using types::kString;

constexpr std::uint8_t kSince = 30;

const IpAddress& AddressOf(const Value& value) { return value.AsOpaque<IpAddress>(); }

Value FromString(CallContext& call, std::span<const Value> arguments) {
  IpAddress address;
  std::string error;
  if (!ParseIp(arguments[0].AsText(), address, error)) return call.Error(error);
  return MakeIp(call, address);
}

Value IsIp(CallContext&, std::span<const Value> arguments) {
  IpAddress address;
  std::string error;
  return Value::Bool(ParseIp(arguments[0].AsText(), address, error));
}

// The canonical form is that of RFC 5952: lower case, and the longest run of zeros left out.
Value IsCanonical(CallContext& call, std::span<const Value> arguments) {
  IpAddress address;
  std::string error;
  if (!ParseIp(arguments[0].AsText(), address, error)) return call.Error(error);
  return Value::Bool(address.ToString() == arguments[0].AsText());
}

Value ToText(CallContext& call, std::span<const Value> arguments) {
  return MakeString(call, AddressOf(arguments[0]).ToString());
}

Value Family(CallContext&, std::span<const Value> arguments) {
  return Value::Int(AddressOf(arguments[0]).v4 ? 4 : 6);
}

bool IsUnspecified(const IpAddress& address) { return address == IpAddress{.v4 = address.v4}; }

// 127.0.0.0/8 and ::1.
bool IsLoopback(const IpAddress& address) {
  if (address.v4) return address.bytes[0] == 127;
  return address == IpAddress{.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
}

// 224.0.0.0/24 and ff?2::/16.
bool IsLinkLocalMulticast(const IpAddress& address) {
  const auto& bytes = address.bytes;
  if (address.v4) return bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0;
  return bytes[0] == 0xFF && (bytes[1] & 0x0FU) == 0x02;
}

// 169.254.0.0/16 and fe80::/10.
bool IsLinkLocalUnicast(const IpAddress& address) {
  const auto& bytes = address.bytes;
  if (address.v4) return bytes[0] == 169 && bytes[1] == 254;
  return bytes[0] == 0xFE && (bytes[1] & 0xC0U) == 0x80;
}

// 224.0.0.0/4 and ff00::/8.
bool IsMulticast(const IpAddress& address) {
  return address.v4 ? (address.bytes[0] & 0xF0U) == 0xE0 : address.bytes[0] == 0xFF;
}

// Also private addresses are global in Go's eyes.
bool IsGlobalUnicast(const IpAddress& address) {
  constexpr IpAddress kBroadcast{.v4 = true, .bytes = {255, 255, 255, 255}};
  return !IsUnspecified(address) && address != kBroadcast && !IsLoopback(address) &&
         !IsMulticast(address) && !IsLinkLocalUnicast(address);
}

// Makes a handler of a test.
template <bool (*test)(const IpAddress&)>
Value Test(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(test(AddressOf(arguments[0])));
}

constexpr Overload kFromString[] = {
    {.id = "string_to_ip", .signature = Free(kIpType, kString), .handler = FromString},
};
constexpr Overload kFamily[] = {
    {.id = "ip_family", .signature = Member(kInt, kIpType), .handler = Family},
};
constexpr Overload kIsCanonical[] = {
    {.id = "ip_is_canonical", .signature = Free(kBool, kString), .handler = IsCanonical},
};
constexpr Overload kIsUnspecified[] = {
    {.id = "ip_is_unspecified",
     .signature = Member(kBool, kIpType),
     .handler = Test<IsUnspecified>},
};
constexpr Overload kIsLoopback[] = {
    {.id = "ip_is_loopback", .signature = Member(kBool, kIpType), .handler = Test<IsLoopback>},
};
constexpr Overload kIsLinkLocalMulticast[] = {
    {.id = "ip_is_link_local_multicast",
     .signature = Member(kBool, kIpType),
     .handler = Test<IsLinkLocalMulticast>},
};
constexpr Overload kIsLinkLocalUnicast[] = {
    {.id = "ip_is_link_local_unicast",
     .signature = Member(kBool, kIpType),
     .handler = Test<IsLinkLocalUnicast>},
};
constexpr Overload kIsGlobalUnicast[] = {
    {.id = "ip_is_global_unicast",
     .signature = Member(kBool, kIpType),
     .handler = Test<IsGlobalUnicast>},
};
constexpr Overload kIsIp[] = {
    {.id = "is_ip", .signature = Free(kBool, kString), .handler = IsIp},
};
constexpr Overload kToString[] = {
    {.id = "ip_to_string", .signature = Free(kString, kIpType), .handler = ToText},
};

constexpr Function kFunctions[] = {
    {.name = "ip",
     .overloads = kFromString,
     .run_cost = CostOfIp,
     .estimate = EstimateIp,
     .since = kSince},
    UnitCostRow("family", kFamily, kSince),
    {.name = "ip.isCanonical",
     .overloads = kIsCanonical,
     .run_cost = CostTwoTraversals,
     .estimate = EstimateTwoTraversals,
     .since = kSince},
    UnitCostRow("isUnspecified", kIsUnspecified, kSince),
    UnitCostRow("isLoopback", kIsLoopback, kSince),
    UnitCostRow("isLinkLocalMulticast", kIsLinkLocalMulticast, kSince),
    UnitCostRow("isLinkLocalUnicast", kIsLinkLocalUnicast, kSince),
    UnitCostRow("isGlobalUnicast", kIsGlobalUnicast, kSince),
    TraversalRow("isIP", kIsIp, kSince),
    {.name = "string", .overloads = kToString, .since = kSince},
};

}  // namespace
}  // namespace ip_rows

std::span<const Function> Ips() { return ip_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
