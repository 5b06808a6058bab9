#include <algorithm>
#include <charconv>
#include <vector>

#include "cel/functions/common.h"
#include "cel/functions/libraries.h"
#include "cel/types/spell.h"
#include "text/ascii.h"
#include "text/quote.h"

// k8s.io/apiserver/pkg/cel/library/semverlib.go, version 1, and github.com/blang/semver/v4.
namespace apiserver::v0::cel::functions {
namespace semver_rows {
namespace {

using types::kBool;
using types::kInt;
using types::kString;

constexpr TypeNode kSemver = types::Object("kubernetes.Semver");
constexpr std::uint8_t kSince = 33;

// A version, without the build metadata, which nothing compares.
struct Semver {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t patch = 0;
  std::string_view prerelease = {};  // "rc.1"; valid. Empty: a release.
  std::string_view build = {};       // Only for printing.
};

bool IsNumber(std::string_view text) { return std::ranges::all_of(text, text::IsDigit); }

bool IsIdentifier(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return text::IsDigit(c) || text::IsLetter(c) || c == '-'; });
}

bool HasLeadingZeros(std::string_view text) { return text.size() > 1 && text[0] == '0'; }

// Reads Go's strconv.ParseUint of digits. A text means what is wrong.
std::string ReadNumber(std::string_view digits, std::uint64_t& number) {
  const char* const end = digits.data() + digits.size();
  const auto code = std::from_chars(digits.data(), end, number).ec;
  if (code == std::errc()) return "";
  return "strconv.ParseUint: parsing " + text::Quote(digits) + ": " +
         (digits.empty() ? "invalid syntax" : "value out of range");
}

// Reads one of the three numbers.
std::string ReadPart(std::string_view name, std::string_view digits, std::uint64_t& number) {
  if (!IsNumber(digits)) {
    std::string error = "Invalid character(s) found in ";
    return error.append(name).append(" number ").append(text::Quote(digits));
  }
  if (HasLeadingZeros(digits)) {
    std::string error(1, static_cast<char>(name[0] - 'a' + 'A'));
    error.append(name.substr(1)).append(" number must not contain leading zeroes ");
    return error.append(text::Quote(digits));
  }
  return ReadNumber(digits, number);
}

// Takes the text before the next dot from the front of `rest`. nullopt: all was taken.
class Parts {
 public:
  explicit Parts(std::string_view text) : rest_(text) {}
  std::optional<std::string_view> Next() {
    if (done_) return std::nullopt;
    const std::size_t dot = rest_.find('.');
    const std::string_view part = rest_.substr(0, dot);
    done_ = dot == std::string_view::npos;
    if (!done_) rest_.remove_prefix(dot + 1);
    return part;
  }

 private:
  std::string_view rest_;
  bool done_ = false;
};

std::string CheckPrerelease(std::string_view prerelease) {
  Parts parts(prerelease);
  while (const std::optional<std::string_view> part = parts.Next()) {
    if (part->empty()) return "Prerelease is empty";
    if (IsNumber(*part)) {
      if (HasLeadingZeros(*part)) {
        return "Numeric PreRelease version must not contain leading zeroes " + text::Quote(*part);
      }
      std::uint64_t number = 0;
      if (std::string error = ReadNumber(*part, number); !error.empty()) return error;
    } else if (!IsIdentifier(*part)) {
      return "Invalid character(s) found in prerelease " + text::Quote(*part);
    }
  }
  return "";
}

std::string CheckBuild(std::string_view build) {
  Parts parts(build);
  while (const std::optional<std::string_view> part = parts.Next()) {
    if (part->empty()) return "Build meta data is empty";
    if (!IsIdentifier(*part)) {
      return "Invalid character(s) found in build meta data " + text::Quote(*part);
    }
  }
  return "";
}

// Cuts `text` at the first `mark` and returns the part behind it. nullopt: there is no mark.
std::optional<std::string_view> CutAt(std::string_view& text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view behind = text.substr(at + 1);
  text = text.substr(0, at);
  return behind;
}

// Reads a version; its parts borrow from the text. A text means what is wrong.
std::string Read(std::string_view text, Semver& version) {
  if (text.empty()) return "Version string empty";
  const std::size_t first = text.find('.');
  const std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return "No Major.Minor.Patch elements found";
  std::string error = ReadPart("major", text.substr(0, first), version.major);
  if (!error.empty()) return error;
  error = ReadPart("minor", text.substr(first + 1, second - first - 1), version.minor);
  if (!error.empty()) return error;
  std::string_view patch = text.substr(second + 1);
  const std::optional<std::string_view> build = CutAt(patch, '+');
  const std::optional<std::string_view> prerelease = CutAt(patch, '-');
  error = ReadPart("patch", patch, version.patch);
  if (error.empty() && prerelease.has_value()) error = CheckPrerelease(*prerelease);
  if (error.empty() && build.has_value()) error = CheckBuild(*build);
  version.prerelease = prerelease.value_or("");
  version.build = build.value_or("");
  return error;
}

std::string WithoutLeadingZeros(std::string_view part) {
  if (part.size() <= 1) return std::string(part);
  while (part.starts_with('0')) part.remove_prefix(1);
  const bool digit = !part.empty() && text::IsDigit(part[0]);
  return digit ? std::string(part) : "0" + std::string(part);
}

// Drops a leading "v" and leading zeros, and fills up to three numbers.
std::string Normalize(std::string_view text, std::string& error) {
  constexpr std::size_t kNumbers = 3;
  if (text.starts_with('v')) text.remove_prefix(1);
  std::vector<std::string> parts;
  while (parts.size() + 1 < kNumbers) {
    const std::optional<std::string_view> behind = CutAt(text, '.');
    parts.push_back(WithoutLeadingZeros(text));
    text = behind.value_or("");
    if (!behind.has_value()) break;
    if (parts.size() + 1 == kNumbers) parts.push_back(WithoutLeadingZeros(text));
  }
  if (parts.size() < kNumbers && parts.back().find_first_of("+-") != std::string::npos) {
    error = "short version cannot contain PreRelease/Build meta data";
    return "";
  }
  parts.resize(kNumbers, "0");
  return parts[0] + "." + parts[1] + "." + parts[2];
}

// Reads the arguments of semver() and isSemver().
struct Reading {
  explicit Reading(std::span<const Value> arguments) : text(arguments[0].AsText()) {
    if (arguments.size() > 1 && arguments[1].AsBool()) text = normalized = Normalize(text, error);
    if (error.empty()) error = Read(text, version);
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  std::string_view text;
  std::string normalized;
  std::string error;
  Semver version;
};

int CompareNumbers(std::uint64_t a, std::uint64_t b) { return a < b ? -1 : (a > b ? 1 : 0); }

// Compares one part of two prereleases: numbers come before words.
int CompareIdentifiers(std::string_view a, std::string_view b) {
  const bool numbers = IsNumber(a) && IsNumber(b);
  if (!numbers && IsNumber(a) != IsNumber(b)) return IsNumber(a) ? -1 : 1;
  // Without leading zeros the longer number is greater.
  if (numbers && a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  const int order = a.compare(b);
  return order < 0 ? -1 : (order > 0 ? 1 : 0);
}

int ComparePrereleases(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.empty() ? (b.empty() ? 0 : 1) : -1;
  Parts left(a);
  Parts right(b);
  while (true) {
    const std::optional<std::string_view> x = left.Next();
    const std::optional<std::string_view> y = right.Next();
    if (!x.has_value() || !y.has_value()) return x.has_value() ? 1 : (y.has_value() ? -1 : 0);
    if (const int order = CompareIdentifiers(*x, *y); order != 0) return order;
  }
}

// Compares by precedence: semver.org, item 11.
int CompareVersions(const Semver& a, const Semver& b) {
  for (const auto part : {&Semver::major, &Semver::minor, &Semver::patch}) {
    if (const int order = CompareNumbers(a.*part, b.*part); order != 0) return order;
  }
  return ComparePrereleases(a.prerelease, b.prerelease);
}

bool EqualVersions(const void* a, const void* b) {
  return CompareVersions(*static_cast<const Semver*>(a), *static_cast<const Semver*>(b)) == 0;
}

std::string TakeOutSemver(const void* object) {
  const auto& version = *static_cast<const Semver*>(object);
  std::string text = std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
                     std::to_string(version.patch);
  if (!version.prerelease.empty()) text.append("-").append(version.prerelease);
  if (!version.build.empty()) text.append("+").append(version.build);
  return NotTakenOut("semver.Version", text);
}

constexpr OpaqueKind kSemverKind = {.type = &kSemver,
                                    .equal = EqualVersions,
                                    .go_type = "cel.Semver",
                                    .error_taken_out = TakeOutSemver};

const Semver& VersionOf(const Value& value) { return value.AsOpaque<Semver>(); }

Value FromString(CallContext& call, std::span<const Value> arguments) {
  const Reading reading(arguments);
  if (!reading.error.empty()) return call.Error(reading.error);
  if (!call.CanBuild(reading.text.size())) return call.OverLimit();
  Semver& version = call.arena().Make(reading.version);
  version.prerelease = call.arena().Copy(version.prerelease);
  version.build = call.arena().Copy(version.build);
  return Value::Opaque(kSemverKind, &version);
}

Value IsSemver(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(Reading(arguments).error.empty());
}

// Returns one of the numbers; Go lets those above 2^63 wrap around.
template <std::uint64_t Semver::*part>
Value Get(CallContext&, std::span<const Value> arguments) {
  return Value::Int(static_cast<std::int64_t>(VersionOf(arguments[0]).*part));
}

Value CompareTo(CallContext&, std::span<const Value> arguments) {
  return Value::Int(CompareVersions(VersionOf(arguments[0]), VersionOf(arguments[1])));
}
Value IsLessThan(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(CompareVersions(VersionOf(arguments[0]), VersionOf(arguments[1])) < 0);
}
Value IsGreaterThan(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(CompareVersions(VersionOf(arguments[0]), VersionOf(arguments[1])) > 0);
}

constexpr Overload kFromString[] = {
    {.id = "string_to_semver", .signature = Free(kSemver, kString), .handler = FromString},
    {.id = "string_bool_to_semver",
     .signature = Free(kSemver, kString, kBool),
     .handler = FromString},
};
constexpr Overload kIsSemver[] = {
    {.id = "is_semver_string", .signature = Free(kBool, kString), .handler = IsSemver},
    {.id = "is_semver_string_bool", .signature = Free(kBool, kString, kBool), .handler = IsSemver},
};
constexpr Overload kIsGreaterThan[] = {
    {.id = "semver_is_greater_than",
     .signature = Member(kBool, kSemver, kSemver),
     .handler = IsGreaterThan},
};
constexpr Overload kIsLessThan[] = {
    {.id = "semver_is_less_than",
     .signature = Member(kBool, kSemver, kSemver),
     .handler = IsLessThan},
};
constexpr Overload kCompareTo[] = {
    {.id = "semver_compare_to", .signature = Member(kInt, kSemver, kSemver), .handler = CompareTo},
};
constexpr Overload kMajor[] = {
    {.id = "semver_major", .signature = Member(kInt, kSemver), .handler = Get<&Semver::major>},
};
constexpr Overload kMinor[] = {
    {.id = "semver_minor", .signature = Member(kInt, kSemver), .handler = Get<&Semver::minor>},
};
constexpr Overload kPatch[] = {
    {.id = "semver_patch", .signature = Member(kInt, kSemver), .handler = Get<&Semver::patch>},
};

constexpr Function kFunctions[] = {
    TraversalRow("semver", kFromString, kSince),
    TraversalRow("isSemver", kIsSemver, kSince),
    UnitCostRow("isGreaterThan", kIsGreaterThan, kSince),
    UnitCostRow("isLessThan", kIsLessThan, kSince),
    UnitCostRow("compareTo", kCompareTo, kSince),
    UnitCostRow("major", kMajor, kSince),
    UnitCostRow("minor", kMinor, kSince),
    UnitCostRow("patch", kPatch, kSince),
};

}  // namespace
}  // namespace semver_rows

std::span<const Function> Semvers() { return semver_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
