#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/meta/validation.h"
#include "cel/functions/common.h"
#include "cel/functions/find_text.h"
#include "cel/functions/libraries.h"
#include "cel/run/size.h"
#include "cel/types/spell.h"
#include "runtime/formats.h"
#include "text/ascii.h"
#include "text/go_url.h"

// k8s.io/apiserver/pkg/cel/library/format.go.
namespace apiserver::v0::cel::functions {
namespace formats_rows {
namespace {

using types::kListOf;
using types::kOptionalOf;
using types::kString;

constexpr TypeNode kFormat = types::Object("kubernetes.NamedFormat");
constexpr std::uint8_t kSince = 31;

using meta::Complaints;

Complaints ComplainUnless(bool valid, std::string_view complaint) {
  return valid ? Complaints{} : Complaints{std::string(complaint)};
}

Complaints ValidateUri(std::string_view text) {
  const text::Read<text::GoUrl> url = text::ParseGoRequestUri(text);
  return ComplainUnless(url.ok(), url.ok() ? "" : url.error().message());
}

Complaints ValidateUuid(std::string_view text) {
  return ComplainUnless(runtime::MatchesFormat("uuid", text), "does not match the UUID format");
}

// Padded base64 of at least one byte, without line breaks: govalidator's pattern.
bool IsBase64(std::string_view text) {
  constexpr std::size_t kGroup = 4;
  constexpr std::size_t kPaddingMax = 2;
  if (text.empty() || text.size() % kGroup != 0) return false;
  for (std::size_t i = 0; i < kPaddingMax && text.ends_with('='); ++i) text.remove_suffix(1);
  return std::ranges::all_of(
      text, [](char c) { return text::IsDigit(c) || text::IsLetter(c) || c == '+' || c == '/'; });
}

Complaints ValidateByte(std::string_view text) {
  return ComplainUnless(IsBase64(text), "invalid base64");
}

Complaints ValidateDate(std::string_view text) {
  return ComplainUnless(runtime::MatchesFormat("date", text), "invalid date");
}

bool AreDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, text::IsDigit);
}

// "z" or "+01:00".
bool IsZone(std::string_view text) {
  constexpr std::size_t kZoneBytes = 6;
  return text == "z" ||
         (text.size() == kZoneBytes && (text[0] == '+' || text[0] == '-') && text[3] == ':' &&
          AreDigits(text.substr(1, 2)) && AreDigits(text.substr(4)));
}

// A fraction behind any character, which may be missing, and a zone: strfmt's pattern
// `(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$`.
bool IsFractionAndZone(std::string_view text) {
  if (IsZone(text)) return true;
  const std::size_t zone = text.ends_with('z') ? text.size() - 1 : text.find_last_of("+-");
  if (zone == std::string_view::npos || zone == 0 || !IsZone(text.substr(zone))) return false;
  std::string_view fraction = text.substr(0, zone);
  if (fraction.front() == '\n') return false;
  fraction.remove_prefix(ByteOf(fraction, 1).value_or(1));
  return AreDigits(fraction);
}

// strfmt.IsDateTime, which looks at the text before the second "t" only and knows no leap seconds.
bool IsDateTime(std::string_view written) {
  constexpr std::size_t kClockBytes = 8;
  std::string text(written);
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::size_t mark = text.find('t');
  if (mark == std::string::npos || !runtime::MatchesFormat("date", text.substr(0, mark))) {
    return false;
  }
  const std::string_view rest = std::string_view(text).substr(mark + 1);
  const std::string_view time = rest.substr(0, rest.find('t'));
  if (time.size() <= kClockBytes || time[2] != ':' || time[5] != ':') return false;
  const std::string_view hours = time.substr(0, 2);
  const std::string_view minutes = time.substr(3, 2);
  const std::string_view seconds = time.substr(6, 2);
  return AreDigits(hours) && AreDigits(minutes) && AreDigits(seconds) && hours <= "23" &&
         minutes <= "59" && seconds <= "59" && IsFractionAndZone(time.substr(kClockBytes));
}

Complaints ValidateDateTime(std::string_view text) {
  return ComplainUnless(IsDateTime(text), "invalid datetime");
}

// The rules for names, and for prefixes that names are generated from.
template <Complaints (*validate)(std::string_view, bool), bool prefix>
Complaints Validate(std::string_view text) {
  return validate(text, prefix);
}

// A format. Values of the type refer to one of these.
struct Format {
  std::string_view function;  // "format.NAME".
  std::string_view name;      // Formats of one name are equal.
  Complaints (*validate)(std::string_view text);
  // The length of the pattern that run-time cost assumes.
  std::uint64_t pattern_size;
  Handler get = nullptr;
};

bool EqualFormats(const void* a, const void* b) {
  return static_cast<const Format*>(a)->name == static_cast<const Format*>(b)->name;
}

constexpr OpaqueKind kFormatKind = {
    .type = &kFormat, .equal = EqualFormats, .go_type = "cel.Format"};

constexpr std::size_t kFormatCount = 13;
extern const std::array<Format, kFormatCount> kFormats;

template <std::size_t index>
Value Get(CallContext&, std::span<const Value>) {
  return Value::Opaque(kFormatKind, &kFormats[index]);
}

constexpr std::uint64_t kLabelPattern = 30;
constexpr std::uint64_t kSubdomainPattern = 60;
constexpr std::uint64_t kLabelValuePattern = 40;
constexpr std::uint64_t kUriPattern = 1103;
constexpr std::uint64_t kBase64Pattern = 84;
constexpr std::string_view kUuidPattern =
    "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
constexpr std::string_view kDateTimePattern =
    "^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$";

constexpr std::array<Format, kFormatCount> kFormats = {{
    {"format.dns1123Label", "DNS1123Label", Validate<meta::NameIsDNSLabel, false>, kLabelPattern,
     Get<0>},
    {"format.dns1123Subdomain", "DNS1123Subdomain", Validate<meta::NameIsDNSSubdomain, false>,
     kSubdomainPattern, Get<1>},
    {"format.dns1035Label", "DNS1035Label", Validate<meta::NameIsDNS1035Label, false>,
     kLabelPattern, Get<2>},
    {"format.qualifiedName", "QualifiedName", meta::IsQualifiedName, kSubdomainPattern, Get<3>},
    {"format.dns1123LabelPrefix", "DNS1123LabelPrefix", Validate<meta::NameIsDNSLabel, true>,
     kLabelPattern, Get<4>},
    {"format.dns1123SubdomainPrefix", "DNS1123SubdomainPrefix",
     Validate<meta::NameIsDNSSubdomain, true>, kSubdomainPattern, Get<5>},
    {"format.dns1035LabelPrefix", "DNS1035LabelPrefix", Validate<meta::NameIsDNS1035Label, true>,
     kLabelPattern, Get<6>},
    {"format.labelValue", "LabelValue", meta::IsValidLabelValue, kLabelValuePattern, Get<7>},
    {"format.uri", "URI", ValidateUri, kUriPattern, Get<8>},
    {"format.uuid", "uuid", ValidateUuid, kUuidPattern.size(), Get<9>},
    {"format.byte", "byte", ValidateByte, kBase64Pattern, Get<10>},
    {"format.date", "date", ValidateDate, kDateTimePattern.size(), Get<11>},
    {"format.datetime", "datetime", ValidateDateTime, kDateTimePattern.size(), Get<12>},
}};

Value Named(CallContext& call, std::span<const Value> arguments) {
  constexpr std::string_view kPrefix = "format.";
  for (const Format& format : kFormats) {
    if (format.function.substr(kPrefix.size()) == arguments[0].AsText()) {
      return Value::Optional(Value::Opaque(kFormatKind, &format), call.arena());
    }
  }
  return Value::None();
}

Value ValidateText(CallContext& call, std::span<const Value> arguments) {
  const Complaints complaints = arguments[0].AsOpaque<Format>().validate(arguments[1].AsText());
  if (complaints.empty()) return Value::None();
  const Value list = MakeStrings(call, complaints);
  return list.is_error() ? list : Value::Optional(list, call.arena());
}

// Assumes a pattern that is as long as the format's.
std::optional<std::uint64_t> CostOfValidate(const CostCall& call) {
  if (call.arguments.size() < 2 || !call.arguments[0].IsOpaque(kFormatKind)) return std::nullopt;
  return MultiplyByFactor(CostSize(call.arguments[1]) + 1, kStringTraversal) *
         MultiplyByFactor(call.arguments[0].AsOpaque<Format>().pattern_size, kRegexLength);
}

std::optional<CallEstimate> EstimateValidate(const EstimateCall& call) {
  constexpr std::uint64_t kPatternSizeMax = 128;
  constexpr auto kFactor = static_cast<std::uint64_t>(kPatternSizeMax * kRegexLength);
  return CallEstimate{.cost = CostOf(call.Size(1), kStringTraversal) * CostRange{kFactor, kFactor}};
}

constexpr Overload kValidate[] = {
    {.id = "format-validate",
     .signature = Member(kOptionalOf<kListOf<kString>>, kFormat, kString),
     .handler = ValidateText},
};
constexpr Overload kNamed[] = {
    {.id = "format-named", .signature = Free(kOptionalOf<kFormat>, kString), .handler = Named},
};

// The functions without arguments that return a format each.
template <std::size_t... indexes>
constexpr std::array<Overload, kFormatCount> MakeOverloads(std::index_sequence<indexes...>) {
  return {Overload{.id = kFormats[indexes].function,
                   .signature = Free(kFormat),
                   .handler = kFormats[indexes].get}...};
}
constexpr auto kOverloads = MakeOverloads(std::make_index_sequence<kFormatCount>());

template <std::size_t... indexes>
constexpr std::array<Function, kFormatCount + 2> MakeFunctions(std::index_sequence<indexes...>) {
  return {Function{.name = "validate",
                   .overloads = kValidate,
                   .run_cost = CostOfValidate,
                   .estimate = EstimateValidate,
                   .since = kSince},
          Function{.name = "format.named",
                   .overloads = kNamed,
                   .run_cost = CostOne,
                   .estimate = EstimateOne,
                   .since = kSince},
          Function{.name = kOverloads[indexes].id,
                   .overloads = std::span(&kOverloads[indexes], 1),
                   .since = kSince}...};
}
constexpr auto kFunctions = MakeFunctions(std::make_index_sequence<kFormatCount>());

}  // namespace
}  // namespace formats_rows

std::span<const Function> Formats() { return formats_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
