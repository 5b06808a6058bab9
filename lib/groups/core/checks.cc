#include "groups/core/checks.h"

#include <algorithm>
#include <string>

#include "apiserver/codec/json.h"
#include "text/ascii.h"
#include "text/ip.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using meta::Complaints;
using runtime::Value;

constexpr std::size_t kSubdomainBytesMax = 253;
constexpr std::size_t kPortNameBytesMax = 15;
constexpr std::int64_t kFileModeMax = 0777;
constexpr std::string_view kStandardFinalizers[] = {"kubernetes", "orphan", "foregroundDeletion"};

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

bool IsKeyCharacter(char c) {
  return text::IsLetter(c) || text::IsDigit(c) || c == '-' || c == '_' || c == '.';
}

std::string TooLong(std::size_t most) {
  return "must be no more than " + std::to_string(most) + " characters";
}

// "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
bool IsLabelWithUnderscore(std::string_view label) {
  if (label.starts_with('_')) label.remove_prefix(1);
  const auto outer = [](char c) { return IsLower(c) || text::IsDigit(c); };
  const auto inner = [&](char c) { return outer(c) || c == '-' || c == '_'; };
  return !label.empty() && outer(label.front()) && outer(label.back()) &&
         std::ranges::all_of(label, inner);
}

bool IsKept(std::string_view value, const std::vector<std::string_view>& kept) {
  return std::ranges::find(kept, value) != kept.end();
}

// Follows validateKubeFinalizerName.
void CheckKubeFinalizer(ErrorList& errors, const Path& path, std::string_view name) {
  const bool standard =
      std::ranges::find(kStandardFinalizers, name) != std::end(kStandardFinalizers);
  if (standard || name.find('/') != std::string_view::npos) return;
  errors.Invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified");
}

void CheckFinalizers(Value metadata, ErrorList& errors) {
  std::size_t i = 0;
  for (const Value& finalizer : metadata["finalizers"].items()) {
    CheckKubeFinalizer(errors, Path("metadata.finalizers").Index(i++), finalizer.AsString());
  }
}

}  // namespace

void AddComplaints(ErrorList& errors, const Path& path, std::string_view value,
                   const Complaints& complaints) {
  for (const std::string& complaint : complaints) errors.Invalid(path, value, complaint);
}

void CheckDnsLabel(ErrorList& errors, const Path& path, std::string_view value) {
  AddComplaints(errors, path, value, meta::IsDNS1123Label(value));
}

void CheckDnsSubdomain(ErrorList& errors, const Path& path, std::string_view value) {
  AddComplaints(errors, path, value, meta::IsDNS1123Subdomain(value));
}

void CheckQualifiedName(ErrorList& errors, const Path& path, std::string_view value) {
  AddComplaints(errors, path, value, meta::IsQualifiedName(value));
}

Complaints IsConfigMapKey(std::string_view key) {
  Complaints complaints;
  if (key.size() > kSubdomainBytesMax) complaints.push_back(TooLong(kSubdomainBytesMax));
  if (key.empty() || !std::ranges::all_of(key, IsKeyCharacter)) {
    complaints.emplace_back(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
        "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
        "'[-._a-zA-Z0-9]+')");
  }
  if (key == ".") {
    complaints.emplace_back("must not be '.'");
  } else if (key == "..") {
    complaints.emplace_back("must not be '..'");
    // Names in a volume: the kubelet keeps its own files there under "..".
  } else if (key.starts_with("..")) {
    complaints.emplace_back("must not start with '..'");
  }
  return complaints;
}

Complaints IsPortName(std::string_view name) {
  Complaints complaints;
  if (name.size() > kPortNameBytesMax) complaints.push_back(TooLong(kPortNameBytesMax));
  const auto allowed = [](char c) { return IsLower(c) || text::IsDigit(c) || c == '-'; };
  if (name.empty() || !std::ranges::all_of(name, allowed)) {
    complaints.emplace_back(
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!std::ranges::any_of(name, IsLower)) {
    complaints.emplace_back("must contain at least one letter (a-z)");
  }
  if (name.find("--") != std::string_view::npos) {
    complaints.emplace_back("must not contain consecutive hyphens");
  }
  if (name.starts_with('-') || name.ends_with('-')) {
    complaints.emplace_back("must not begin or end with a hyphen");
  }
  return complaints;
}

Complaints IsRelaxedEnvVarName(std::string_view name) {
  if (name.empty()) return {"environment variable name must be non-empty"};
  const auto printable = [](char c) { return c >= ' ' && c <= '~' && c != '='; };
  if (std::ranges::all_of(name, printable)) return {};
  return {
      "a valid environment variable name must consist only of printable ASCII characters other "
      "than '='"};
}

Complaints IsHttpHeaderName(std::string_view name) {
  const auto allowed = [](char c) { return text::IsLetter(c) || text::IsDigit(c) || c == '-'; };
  if (!name.empty() && std::ranges::all_of(name, allowed)) return {};
  return {
      "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. "
      "'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"};
}

Complaints IsSubdomainWithUnderscore(std::string_view value) {
  Complaints complaints;
  if (value.size() > kSubdomainBytesMax) complaints.push_back(TooLong(kSubdomainBytesMax));
  bool valid = true;
  for (std::string_view rest = value; valid;) {
    const std::size_t dot = rest.find('.');
    valid = IsLabelWithUnderscore(rest.substr(0, dot));
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  if (!valid) {
    complaints.emplace_back(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', "
        "'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
        "regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*"
        "[a-z0-9])?)*')");
  }
  return complaints;
}

void InvalidNumber(ErrorList& errors, const Path& path, std::int64_t number, std::string detail) {
  errors.InvalidPrinted(path, std::to_string(number), std::move(detail));
}

void CheckRange(ErrorList& errors, const Path& path, std::int64_t number, std::int64_t least,
                std::int64_t most) {
  if (number >= least && number <= most) return;
  InvalidNumber(
      errors, path, number,
      "must be between " + std::to_string(least) + " and " + std::to_string(most) + ", inclusive");
}

void CheckPort(ErrorList& errors, const Path& path, std::int64_t port) {
  CheckRange(errors, path, port, 1, kPortMax);
}

void CheckPortOrName(ErrorList& errors, const Path& path, Value port) {
  if (port.is_string()) {
    AddComplaints(errors, path, port.AsString(), IsPortName(port.AsString()));
  } else {
    CheckPort(errors, path, port.AsInt());
  }
}

void CheckNotNegative(ErrorList& errors, const Path& path, std::int64_t number) {
  if (number >= 0) return;
  InvalidNumber(errors, path, number, "must be greater than or equal to 0");
}

void CheckPositive(ErrorList& errors, const Path& path, std::int64_t number) {
  if (number > 0) return;
  InvalidNumber(errors, path, number, "must be greater than zero");
}

void CheckFileMode(ErrorList& errors, const Path& path, Value mode) {
  if (mode.is_null() || (mode.AsInt() >= 0 && mode.AsInt() <= kFileModeMax)) return;
  InvalidNumber(errors, path, mode.AsInt(),
                "must be a number between 0 and 0777 (octal), both inclusive");
}

bool CheckPresent(ErrorList& errors, const Path& path, Value owner, std::string_view key) {
  if (owner[key].size() != 0) return true;
  errors.Required(path.Child(key));
  return false;
}

bool IsOneOf(std::string_view word, std::initializer_list<const char*> words) {
  return std::ranges::find(words, word) != words.end();
}

bool CheckWord(ErrorList& errors, const Path& path, std::string_view word,
               std::initializer_list<const char*> words) {
  if (IsOneOf(word, words)) return true;
  errors.NotSupported(path, word, {words.begin(), words.end()});
  return false;
}

void CheckNeededWord(ErrorList& errors, const Path& path, std::string_view word,
                     std::initializer_list<const char*> words) {
  if (word.empty()) return errors.Required(path);
  CheckWord(errors, path, word, words);
}

void CheckNoBacksteps(ErrorList& errors, const Path& path, std::string_view text) {
  for (std::string_view rest = text;;) {
    const std::size_t slash = rest.find('/');
    if (rest.substr(0, slash) == "..") return errors.Invalid(path, text, "must not contain '..'");
    if (slash == std::string_view::npos) return;
    rest.remove_prefix(slash + 1);
  }
}

void CheckDescendingPath(ErrorList& errors, const Path& path, std::string_view text) {
  if (text.starts_with('/')) errors.Invalid(path, text, "must be a relative path");
  CheckNoBacksteps(errors, path, text);
}

void CheckNotReservedPath(ErrorList& errors, const Path& path, std::string_view text) {
  CheckDescendingPath(errors, path, text);
  if (text.starts_with("..") && !text.starts_with("../")) {
    errors.Invalid(path, text, "must not start with '..'");
  }
}

void CheckLegacyIp(ErrorList& errors, const Path& path, std::string_view ip,
                   const std::vector<std::string_view>& kept) {
  if (IsKept(ip, kept) || text::CanonicalIP(ip)) return;
  errors.Invalid(path, ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

void CheckLegacyCidr(ErrorList& errors, const Path& path, std::string_view cidr,
                     const std::vector<std::string_view>& kept) {
  if (IsKept(cidr, kept)) return;
  constexpr std::int64_t kIpv4Bits = 32;
  constexpr std::int64_t kIpv6Bits = 128;
  const std::size_t slash = cidr.find('/');
  const std::string_view address = cidr.substr(0, slash);
  const std::string_view bits =
      slash == std::string_view::npos ? std::string_view() : cidr.substr(slash + 1);
  // Longer numbers, with their zeros in front, are above any limit or no one's.
  const bool number = !bits.empty() && bits.size() <= 9 && std::ranges::all_of(bits, text::IsDigit);
  const std::int64_t most = address.find(':') == std::string_view::npos ? kIpv4Bits : kIpv6Bits;
  if (number && text::CanonicalIP(address) && std::stoll(std::string(bits)) <= most) return;
  errors.Invalid(path, cidr, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string Printed(Value value) {
  std::string json;
  codec::AppendJson(value, json);
  return json;
}

void CheckFinalizer(ErrorList& errors, const Path& path, std::string_view name) {
  CheckQualifiedName(errors, path, name);
  CheckKubeFinalizer(errors, path, name);
}

ErrorList ValidateCoreMeta(Value metadata, bool namespaced,
                           const meta::NameValidator& validate_name) {
  ErrorList errors =
      meta::ValidateObjectMeta(metadata, namespaced, validate_name, Path("metadata"));
  CheckFinalizers(metadata, errors);
  return errors;
}

ErrorList ValidateCoreMetaUpdate(Value now, Value before) {
  ErrorList errors = meta::ValidateObjectMetaUpdate(now, before, Path("metadata"));
  CheckFinalizers(now, errors);
  return errors;
}

}  // namespace apiserver::v0::groups::core
