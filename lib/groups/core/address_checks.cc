#include "groups/core/address_checks.h"

#include <arpa/inet.h>

#include <array>
#include <optional>

#include "text/ip.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;

bool IsMapped(std::string_view ip, const std::string& canonical) {
  return ip.find(':') != std::string_view::npos && canonical.find(':') == std::string::npos;
}

// The ranges of an address that endpoints may not be in.
enum class Range { kOther, kUnspecified, kLoopback, kLinkLocalUnicast, kLinkLocalMulticast };

Range RangeOfIpv4(const std::string& canonical) {
  std::array<unsigned char, 4> bytes{};
  inet_pton(AF_INET, canonical.c_str(), bytes.data());
  if (canonical == "0.0.0.0") return Range::kUnspecified;
  if (bytes[0] == 127) return Range::kLoopback;
  if (bytes[0] == 169 && bytes[1] == 254) return Range::kLinkLocalUnicast;
  const bool multicast = bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0;
  return multicast ? Range::kLinkLocalMulticast : Range::kOther;
}

Range RangeOf(const std::string& canonical) {
  if (canonical.find(':') == std::string::npos) return RangeOfIpv4(canonical);
  std::array<unsigned char, 16> bytes{};
  inet_pton(AF_INET6, canonical.c_str(), bytes.data());
  if (canonical == "::") return Range::kUnspecified;
  if (canonical == "::1") return Range::kLoopback;
  if (bytes[0] == 0xfe && (bytes[1] & 0xc0U) == 0x80) return Range::kLinkLocalUnicast;
  const bool multicast = bytes[0] == 0xff && (bytes[1] & 0x0fU) == 0x02;
  return multicast ? Range::kLinkLocalMulticast : Range::kOther;
}

}  // namespace

void CheckCanonicalIp(ErrorList& errors, const Path& path, std::string_view ip) {
  const std::optional<std::string> canonical = text::CanonicalIP(ip);
  if (!canonical) {
    return errors.Invalid(path, ip,
                          "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
  const bool zeros = !text::ParseGoIp(ip).ok();
  const bool mapped = IsMapped(ip, *canonical);
  if (zeros) errors.Invalid(path, ip, "must not have leading 0s");
  if (mapped && !zeros) {
    errors.Invalid(path, ip, "must not be an IPv4-mapped IPv6 address");
  }
  if (zeros || mapped || ip == *canonical) return;
  errors.Invalid(path, ip, "must be in canonical form (\"" + *canonical + "\")");
}

void CheckEndpointIp(ErrorList& errors, const Path& path, std::string_view ip) {
  const std::optional<std::string> canonical = text::CanonicalIP(ip);
  if (!canonical) return errors.Invalid(path, ip, "must be a valid IP address");
  switch (RangeOf(*canonical)) {
    case Range::kOther:
      return;
    case Range::kUnspecified:
      return errors.Invalid(path, ip, "may not be unspecified (" + std::string(ip) + ")");
    case Range::kLoopback:
      return errors.Invalid(path, ip, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    case Range::kLinkLocalUnicast:
      return errors.Invalid(path, ip,
                            "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    case Range::kLinkLocalMulticast:
      return errors.Invalid(
          path, ip, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
}

void WarnOfIp(std::vector<std::string>& warnings, const Path& path, std::string_view ip) {
  const std::optional<std::string> canonical = text::CanonicalIP(ip);
  if (!canonical || *canonical == ip) return;
  std::string warning = path.text() + ": ";
  if (!text::ParseGoIp(ip).ok() || IsMapped(ip, *canonical)) {
    warning += "non-standard IP address \"" + std::string(ip) +
               "\" will be considered invalid in a future Kubernetes release: use \"" + *canonical +
               "\"";
  } else {
    warning += "IPv6 address \"" + std::string(ip) +
               "\" should be in RFC 5952 canonical format (\"" + *canonical + "\")";
  }
  warnings.push_back(std::move(warning));
}

bool IsIpv4Address(std::string_view ip) {
  const std::optional<std::string> canonical = text::CanonicalIP(ip);
  return canonical && canonical->find(':') == std::string::npos;
}

bool IsIpv6Address(std::string_view ip) {
  const std::optional<std::string> canonical = text::CanonicalIP(ip);
  return canonical && canonical->find(':') != std::string::npos;
}

}  // namespace apiserver::v0::groups::core
