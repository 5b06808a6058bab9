#include <algorithm>
#include <charconv>

#include "cel/functions/common.h"
#include "cel/functions/ip_address.h"
#include "cel/functions/libraries.h"
#include "cel/run/size.h"
#include "text/ip.h"
#include "text/quote.h"

// k8s.io/apiserver/pkg/cel/library/cidr.go.
namespace apiserver::v0::cel::functions {
namespace cidr_rows {
namespace {

using types::kBool;
using types::kInt;
using types::kString;

constexpr TypeNode kCidr = types::Opaque("net.CIDR");
constexpr std::uint8_t kSince = 30;
constexpr std::string_view kContainsIpOfString = "cidr_contains_ip_string";
constexpr std::string_view kContainsCidrOfString = "cidr_contains_cidr_string";

// A network: an address, whose bits behind the prefix may be set, and the length of the prefix.
struct Cidr {
  IpAddress address;
  int bits = 0;
  friend bool operator==(const Cidr&, const Cidr&) = default;
};

bool EqualCidrs(const void* a, const void* b) {
  return *static_cast<const Cidr*>(a) == *static_cast<const Cidr*>(b);
}

// The bytes that hold the prefix.
std::uint64_t SizeOfCidr(const void* object) {
  constexpr int kByteBits = 8;
  return static_cast<std::uint64_t>((static_cast<const Cidr*>(object)->bits + kByteBits - 1) /
                                    kByteBits);
}

std::string TextOf(const Cidr& cidr) {
  return cidr.address.ToString() + "/" + std::to_string(cidr.bits);
}

std::string PrintCidr(const void* object) { return TextOf(*static_cast<const Cidr*>(object)); }

std::string TakeOutCidr(const void* object) {
  return NotTakenOut("netip.Prefix", PrintCidr(object));
}

constexpr OpaqueKind kCidrKind = {.type = &kCidr,
                                  .equal = EqualCidrs,
                                  .size = SizeOfCidr,
                                  .go_type = "cel.CIDR",
                                  .error_taken_out = TakeOutCidr,
                                  .print = PrintCidr};

const Cidr& CidrOf(const Value& value) { return value.AsOpaque<Cidr>(); }

Value MakeCidr(CallContext& call, const Cidr& cidr) {
  return Value::Opaque(kCidrKind, &call.arena().Make(cidr));
}

// Reads the length of a prefix. A text means what is wrong.
std::string ReadBits(std::string_view text, int most, int& bits) {
  const char* const end = text.data() + text.size();
  const auto [read_to, code] = std::from_chars(text.data(), end, bits);
  const bool bad = text.empty() || read_to != end || text[0] == '-' ||
                   (text.size() > 1 && text[0] == '0') || code == std::errc::invalid_argument;
  if (bad || code == std::errc::result_out_of_range) {
    return "bad bits after slash: " + text::Quote(text);
  }
  return bits > most ? "prefix length out of range" : "";
}

// Reads a network as Go's netip.ParsePrefix. Empty: `cidr` is set; else what is wrong.
std::string ReadPrefix(std::string_view text, Cidr& cidr) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return "no '/'";
  const std::string_view address = text.substr(0, slash);
  const text::Read<text::IpFamily> family = text::ParseGoIp(address);
  if (!family.ok()) return family.error().message();
  if (address.find('%') != std::string_view::npos) {
    return "IPv6 zones cannot be present in a prefix";
  }
  cidr.address = ReadValidIp(address);
  return ReadBits(text.substr(slash + 1), cidr.address.bits(), cidr.bits);
}

// Reads a network as Kubernetes does, which puts its prefix before the error twice.
bool ParseCidr(std::string_view text, Cidr& cidr, std::string& error) {
  constexpr std::string_view kWrong = "network address parse error during conversion from string: ";
  error = kWrong;
  if (const std::string why = ReadPrefix(text, cidr); !why.empty()) {
    error.append(kWrong).append("netip.ParsePrefix(" + text::Quote(text) + "): ").append(why);
    return false;
  }
  if (cidr.address.is_mapped_v4()) {
    error.append("IPv4-mapped IPv6 address " + text::Quote(text) + " is not allowed");
    return false;
  }
  return true;
}

// Returns the address with zeros behind the first `bits` bits.
IpAddress Masked(IpAddress address, int bits) {
  constexpr int kByteBits = 8;
  constexpr unsigned kAllBits = 0xFF;
  for (std::uint8_t& byte : address.bytes) {
    const int kept = std::clamp(bits, 0, kByteBits);
    byte = static_cast<std::uint8_t>(byte & (kAllBits << static_cast<unsigned>(kByteBits - kept)));
    bits -= kByteBits;
  }
  return address;
}

// Addresses of the other family are never within.
bool Contains(const Cidr& cidr, const IpAddress& address) {
  return cidr.address.v4 == address.v4 &&
         Masked(cidr.address, cidr.bits) == Masked(address, cidr.bits);
}

Value FromString(CallContext& call, std::span<const Value> arguments) {
  Cidr cidr;
  std::string error;
  if (!ParseCidr(arguments[0].AsText(), cidr, error)) return call.Error(error);
  return MakeCidr(call, cidr);
}

Value IsCidr(CallContext&, std::span<const Value> arguments) {
  Cidr cidr;
  std::string error;
  return Value::Bool(ParseCidr(arguments[0].AsText(), cidr, error));
}

Value ToText(CallContext& call, std::span<const Value> arguments) {
  const Cidr& cidr = CidrOf(arguments[0]);
  return MakeString(call, TextOf(cidr));
}

// Go forgets why the address does not parse.
Value ContainsIpOfString(CallContext&, std::span<const Value> arguments) {
  IpAddress address;
  std::string error;
  if (!ParseIp(arguments[1].AsText(), address, error)) return CallContext::NoSuchOverload({});
  return Value::Bool(Contains(CidrOf(arguments[0]), address));
}

Value ContainsIp(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(Contains(CidrOf(arguments[0]), arguments[1].AsOpaque<IpAddress>()));
}

// A larger network is never within a smaller one.
Value ContainsCidr(const Cidr& whole, const Cidr& part) {
  return Value::Bool(whole.bits <= part.bits && Contains(whole, part.address));
}

Value ContainsCidrOfString(CallContext& call, std::span<const Value> arguments) {
  Cidr part;
  std::string error;
  if (!ParseCidr(arguments[1].AsText(), part, error)) return call.Error(error);
  return ContainsCidr(CidrOf(arguments[0]), part);
}

Value ContainsCidrOfCidr(CallContext&, std::span<const Value> arguments) {
  return ContainsCidr(CidrOf(arguments[0]), CidrOf(arguments[1]));
}

Value ToIp(CallContext& call, std::span<const Value> arguments) {
  return MakeIp(call, CidrOf(arguments[0]).address);
}

Value PrefixLength(CallContext&, std::span<const Value> arguments) {
  return Value::Int(CidrOf(arguments[0]).bits);
}

Value ToMasked(CallContext& call, std::span<const Value> arguments) {
  const Cidr& cidr = CidrOf(arguments[0]);
  return MakeCidr(call, {Masked(cidr.address, cidr.bits), cidr.bits});
}

bool IsOverload(const CostCall& call, std::string_view id) {
  return call.overload != nullptr && call.overload->id == id;
}

// Compares bytes of two addresses, and reads the other one if it is a text.
std::optional<std::uint64_t> CostOfContainsIp(const CostCall& call) {
  if (call.arguments.size() < 2) return std::nullopt;
  const std::uint64_t cost = TraversalCost(call.arguments[0], 2 * kStringTraversal);
  return cost + (IsOverload(call, kContainsIpOfString) ? TraversalCost(call.arguments[1]) : 0);
}

// Masks one of the addresses besides, and compares the lengths.
std::optional<std::uint64_t> CostOfContainsCidr(const CostCall& call) {
  if (call.arguments.size() < 2) return std::nullopt;
  const std::uint64_t cost =
      TraversalCost(call.arguments[0], 2 * kStringTraversal) + TraversalCost(call.arguments[0]) + 1;
  return cost + (IsOverload(call, kContainsCidrOfString) ? TraversalCost(call.arguments[1]) : 0);
}

constexpr SizeRange kAddressSize = {4, 16};

// The cost of reading the second argument if it is a text.
CostRange ReadingCost(const EstimateCall& call, std::string_view id_of_string) {
  if (call.overload().id != id_of_string) return {0, 0};
  return CostOf(call.Size(1), kStringTraversal);
}

std::optional<CallEstimate> EstimateContainsIp(const EstimateCall& call) {
  return CallEstimate{.cost = CostOf(kAddressSize + kAddressSize, kStringTraversal) +
                              ReadingCost(call, kContainsIpOfString)};
}

std::optional<CallEstimate> EstimateContainsCidr(const EstimateCall& call) {
  return CallEstimate{.cost = CostOf(kAddressSize + kAddressSize, kStringTraversal) +
                              CostOf(kAddressSize, kStringTraversal) + CostRange{1, 1} +
                              ReadingCost(call, kContainsCidrOfString)};
}

constexpr Overload kFromString[] = {
    {.id = "string_to_cidr", .signature = Free(kCidr, kString), .handler = FromString},
};
constexpr Overload kContainsIp[] = {
    {.id = kContainsIpOfString,
     .signature = Member(kBool, kCidr, kString),
     .handler = ContainsIpOfString},
    {.id = "cidr_contains_ip_ip",
     .signature = Member(kBool, kCidr, kIpType),
     .handler = ContainsIp},
};
constexpr Overload kContainsCidr[] = {
    {.id = kContainsCidrOfString,
     .signature = Member(kBool, kCidr, kString),
     .handler = ContainsCidrOfString},
    {.id = "cidr_contains_cidr",
     .signature = Member(kBool, kCidr, kCidr),
     .handler = ContainsCidrOfCidr},
};
constexpr Overload kToIp[] = {
    {.id = kIpOfCidr, .signature = Member(kIpType, kCidr), .handler = ToIp},
};
constexpr Overload kPrefixLength[] = {
    {.id = "cidr_prefix_length", .signature = Member(kInt, kCidr), .handler = PrefixLength},
};
constexpr Overload kMasked[] = {
    {.id = "cidr_masked", .signature = Member(kCidr, kCidr), .handler = ToMasked},
};
constexpr Overload kIsCidr[] = {
    {.id = "is_cidr", .signature = Free(kBool, kString), .handler = IsCidr},
};
constexpr Overload kToString[] = {
    {.id = "cidr_to_string", .signature = Free(kString, kCidr), .handler = ToText},
};

constexpr Function kFunctions[] = {
    TraversalRow("cidr", kFromString, kSince),
    {.name = "containsIP",
     .overloads = kContainsIp,
     .run_cost = CostOfContainsIp,
     .estimate = EstimateContainsIp,
     .since = kSince},
    {.name = "containsCIDR",
     .overloads = kContainsCidr,
     .run_cost = CostOfContainsCidr,
     .estimate = EstimateContainsCidr,
     .since = kSince},
    {.name = "ip",
     .overloads = kToIp,
     .run_cost = CostOfIp,
     .estimate = EstimateIp,
     .since = kSince},
    UnitCostRow("prefixLength", kPrefixLength, kSince),
    UnitCostRow("masked", kMasked, kSince),
    TraversalRow("isCIDR", kIsCidr, kSince),
    {.name = "string", .overloads = kToString, .since = kSince},
};

}  // namespace
}  // namespace cidr_rows

std::span<const Function> Cidrs() { return cidr_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
