#include "groups/core/image_reference.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "text/ascii.h"

namespace apiserver::v0::groups::core {
namespace {

constexpr std::size_t kTagBytesMax = 128;
constexpr std::size_t kPathBytesMax = 255;
constexpr std::size_t kIdentifierBytes = 64;

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || text::IsDigit(c); }
bool IsLowerHex(char c) { return (c >= 'a' && c <= 'f') || text::IsDigit(c); }
bool IsHex(char c) { return IsLowerHex(c) || (c >= 'A' && c <= 'F'); }
bool IsWord(char c) { return text::IsLetter(c) || text::IsDigit(c) || c == '_'; }

// Calls `check` with each part of `text` between separators until one is refused.
template <class Check>
bool EachPart(std::string_view text, char separator, Check check) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (!check(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

// "foo__bar-baz.x": runs of letters and digits with one '.', up to two '_' or any '-' between.
bool IsPathComponent(std::string_view part) {
  if (part.empty() || !IsLowerOrDigit(part.front()) || !IsLowerOrDigit(part.back())) return false;
  for (std::size_t i = 0; i < part.size();) {
    if (IsLowerOrDigit(part[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < part.size() && part[end] == part[i]) ++end;
    const std::size_t most = part[i] == '.'   ? 1
                             : part[i] == '_' ? 2
                             : part[i] == '-' ? part.size()
                                              : 0;
    if (end - i > most || !IsLowerOrDigit(part[end])) return false;
    i = end;
  }
  return true;
}

bool IsDomainLabel(std::string_view label) {
  const auto inner = [](char c) { return text::IsLetter(c) || text::IsDigit(c) || c == '-'; };
  return !label.empty() && std::ranges::all_of(label, inner) && label.front() != '-' &&
         label.back() != '-';
}

bool IsDomain(std::string_view domain) {
  const std::size_t bracket = domain.find(']');
  const bool ipv6 = domain.starts_with('[') && bracket != std::string_view::npos;
  const std::size_t colon = domain.find(':', ipv6 ? bracket : 0);
  if (colon != std::string_view::npos) {
    const std::string_view port = domain.substr(colon + 1);
    if (port.empty() || !std::ranges::all_of(port, text::IsDigit)) return false;
    domain = domain.substr(0, colon);
  }
  if (!ipv6) return EachPart(domain, '.', IsDomainLabel);
  const std::string_view address = domain.substr(1, bracket - 1);
  return bracket + 1 == domain.size() && !address.empty() &&
         std::ranges::all_of(address, [](char c) { return IsHex(c) || c == ':'; });
}

bool IsTag(std::string_view tag) {
  return !tag.empty() && tag.size() <= kTagBytesMax && IsWord(tag.front()) &&
         std::ranges::all_of(tag, [](char c) { return IsWord(c) || c == '.' || c == '-'; });
}

// The algorithms that are known, each with the number of its hexadecimal digits.
bool IsDigest(std::string_view digest) {
  const std::size_t colon = digest.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view algorithm = digest.substr(0, colon);
  const std::string_view hex = digest.substr(colon + 1);
  const std::size_t digits = algorithm == "sha256"   ? 64
                             : algorithm == "sha384" ? 96
                             : algorithm == "sha512" ? 128
                                                     : 0;
  return digits != 0 && hex.size() == digits && std::ranges::all_of(hex, IsLowerHex);
}

// Reports whether what stands before the first slash is the name of a registry.
bool IsRegistry(std::string_view front) {
  return front.find_first_of(".:") != std::string_view::npos || front == "localhost" ||
         std::ranges::any_of(front, IsUpper);
}

}  // namespace

std::string_view ImageTag(std::string_view image) {
  // An identifier of an image is no name.
  if (image.size() == kIdentifierBytes && std::ranges::all_of(image, IsLowerHex)) return "";
  std::string_view path = image;
  const std::size_t slash = image.find('/');
  if (slash != std::string_view::npos && IsRegistry(image.substr(0, slash))) {
    if (!IsDomain(image.substr(0, slash))) return "";
    path = image.substr(slash + 1);
  }
  const std::size_t at = path.find('@');
  const bool digested = at != std::string_view::npos;
  if (digested && !IsDigest(path.substr(at + 1))) return "";
  path = path.substr(0, at);
  const std::size_t colon = path.find(':');
  const bool tagged = colon != std::string_view::npos;
  const std::string_view tag = tagged ? path.substr(colon + 1) : std::string_view();
  if (tagged && !IsTag(tag)) return "";
  path = path.substr(0, colon);
  if (path.size() > kPathBytesMax || !EachPart(path, '/', IsPathComponent)) return "";
  if (tagged) return tag;
  return digested ? "" : "latest";
}

}  // namespace apiserver::v0::groups::core
