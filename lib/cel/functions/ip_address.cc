#include "cel/functions/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "cel/functions/common.h"
#include "text/ip.h"
#include "text/quote.h"

namespace apiserver::v0::cel::functions {
namespace {

constexpr std::size_t kGroups = 8;
constexpr std::size_t kV4Bytes = 4;

// Returns one of the eight numbers of an IPv6 address.
unsigned GroupOf(const IpAddress& address, std::size_t group) {
  return address.bytes[2 * group] * 256U + address.bytes[2 * group + 1];
}

void AppendNumber(unsigned number, int base, std::string& out) {
  std::array<char, 8> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, base);
  out.append(buffer.data(), result.ptr);
}

// The longest run of at least two zero groups, the first of several.
struct Zeros {
  std::size_t begin = kGroups;
  std::size_t count = 0;
};
Zeros LongestZeros(const IpAddress& address) {
  Zeros longest;
  for (std::size_t begin = 0; begin < kGroups; ++begin) {
    std::size_t end = begin;
    while (end < kGroups && GroupOf(address, end) == 0) ++end;
    if (end - begin > std::max<std::size_t>(longest.count, 1)) longest = {begin, end - begin};
  }
  return longest;
}

// The bytes of an address, which containsIP costs by.
std::uint64_t SizeOfIp(const void* object) {
  return static_cast<std::uint64_t>(static_cast<const IpAddress*>(object)->bits()) / 8;
}

bool EqualIps(const void* a, const void* b) {
  return *static_cast<const IpAddress*>(a) == *static_cast<const IpAddress*>(b);
}

std::string PrintIp(const void* object) {
  return static_cast<const IpAddress*>(object)->ToString();
}

std::string TakeOutIp(const void* object) { return NotTakenOut("netip.Addr", PrintIp(object)); }

}  // namespace

const OpaqueKind kIpKind = {.type = &kIpType,
                            .equal = EqualIps,
                            .size = SizeOfIp,
                            .go_type = "cel.IP",
                            .error_taken_out = TakeOutIp,
                            .print = PrintIp};

bool IpAddress::is_mapped_v4() const {
  constexpr std::size_t kZeros = 10;
  return !v4 && std::all_of(bytes.begin(), bytes.begin() + kZeros, [](auto b) { return b == 0; }) &&
         bytes[kZeros] == 0xFF && bytes[kZeros + 1] == 0xFF;
}

std::string IpAddress::ToString() const {
  std::string text;
  if (v4) {
    for (std::size_t i = 0; i < kV4Bytes; ++i) {
      if (i > 0) text += '.';
      AppendNumber(bytes[i], 10, text);
    }
    return text;
  }
  const Zeros zeros = LongestZeros(*this);
  for (std::size_t group = 0; group < kGroups; ++group) {
    if (group == zeros.begin) {
      text += "::";
      group += zeros.count;
      if (group >= kGroups) break;
    } else if (group > 0) {
      text += ':';
    }
    AppendNumber(GroupOf(*this, group), 16, text);
  }
  return text;
}

Value MakeIp(CallContext& call, const IpAddress& address) {
  return Value::Opaque(kIpKind, &call.arena().Make(address));
}

// inet_pton knows the forms that Go's netip knows; others were refused before.
IpAddress ReadValidIp(std::string_view text) {
  IpAddress address{.v4 = text.find(':') == std::string_view::npos};
  inet_pton(address.v4 ? AF_INET : AF_INET6, std::string(text).c_str(), address.bytes.data());
  return address;
}

// IPv4-mapped addresses are refused, as 10.0.0.1 would have a second form by which it passes a
// rule.
bool ParseIp(std::string_view text, IpAddress& address, std::string& error) {
  const text::Read<text::IpFamily> family = text::ParseGoIp(text);
  if (!family.ok()) {
    error = "IP Address " + text::Quote(text) +
            " parse error during conversion from string: " + family.error().message();
    return false;
  }
  if (text.find('%') != std::string_view::npos) {
    error = "IP address " + text::Quote(text) + " with zone value is not allowed";
    return false;
  }
  address = ReadValidIp(text);
  if (address.is_mapped_v4()) {
    error = "IPv4-mapped IPv6 address " + text::Quote(text) + " is not allowed";
    return false;
  }
  return true;
}

// The two functions named "ip" share their costs, which Kubernetes asks for by name.
std::optional<std::uint64_t> CostOfIp(const CostCall& call) {
  const bool of_cidr = call.overload != nullptr && call.overload->id == kIpOfCidr;
  return of_cidr ? 1 : CostTraversal(call);
}

std::optional<CallEstimate> EstimateIp(const EstimateCall& call) {
  return call.overload().id == kIpOfCidr ? EstimateOne(call) : EstimateTraversal(call);
}

}  // namespace apiserver::v0::cel::functions
