#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "apiserver/meta/validation.h"

// Hand-written matchers instead of regular expressions: they run for every label of every object.
// The patterns stand in the messages.
namespace apiserver::v0::meta {
namespace {

// Limits of RFC 1035, 2.3.4. Its 255 bytes of a name hold two that the text does not have.
constexpr std::size_t kLabelBytesMax = 63;
constexpr std::size_t kSubdomainBytesMax = 253;

constexpr std::string_view kDns1123LabelPattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kDns1123LabelMessage =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character";
constexpr std::string_view kDns1123SubdomainPattern =
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr std::string_view kDns1123SubdomainMessage =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character";
constexpr std::string_view kDns1035LabelPattern = "[a-z]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kDns1035LabelMessage =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character";
constexpr std::string_view kKeyPattern = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr std::string_view kKeyMessage =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character";
constexpr std::string_view kLabelValuePattern = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
constexpr std::string_view kLabelValueMessage =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character";

constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLowerOrDigit(char c) { return IsLower(c) || IsDigit(c); }
constexpr bool IsAlphanumeric(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

// Says of every byte whether it may stand within a text of a kind.
using Within = std::array<bool, 256>;
constexpr Within WithinLabel() {
  Within within{};
  for (std::size_t i = 0; i < within.size(); ++i) {
    const char c = static_cast<char>(i);
    within[i] = IsLowerOrDigit(c) || c == '-';
  }
  return within;
}
constexpr Within WithinKey() {
  Within within{};
  for (std::size_t i = 0; i < within.size(); ++i) {
    const char c = static_cast<char>(i);
    within[i] = IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
  }
  return within;
}

bool AreAll(std::string_view value, const Within& within) {
  return std::ranges::all_of(value,
                             [&within](char c) { return within[static_cast<unsigned char>(c)]; });
}

bool MatchesDns1123Label(std::string_view value) {
  static constexpr Within kWithin = WithinLabel();
  return !value.empty() && IsLowerOrDigit(value.front()) && IsLowerOrDigit(value.back()) &&
         AreAll(value, kWithin);
}

// A subdomain consists of labels with dots between them.
bool MatchesDns1123Subdomain(std::string_view value) {
  char before = '.';
  for (const char c : value) {
    const bool begins = before == '.';
    const bool good =
        IsLowerOrDigit(c) || (c == '-' && !begins) || (c == '.' && !begins && before != '-');
    if (!good) return false;
    before = c;
  }
  return before != '.' && before != '-';
}

bool MatchesKey(std::string_view value) {
  static constexpr Within kWithin = WithinKey();
  return !value.empty() && IsAlphanumeric(value.front()) && IsAlphanumeric(value.back()) &&
         AreAll(value, kWithin);
}

// Judges nearly all keys, which are good, before anybody looks for words.
bool MatchesQualifiedName(std::string_view value) {
  const std::size_t slash = value.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = value.substr(0, slash);
    if (prefix.size() > kSubdomainBytesMax || !MatchesDns1123Subdomain(prefix)) return false;
    value.remove_prefix(slash + 1);
  }
  return value.size() <= kLabelBytesMax && MatchesKey(value);
}

// MaxLength is the complaint of apimachinery's validation package, which
// judges names; ContentMaxLength that of its content package, which judges the
// keys and values of labels. The words differ.
std::string MaxLength(std::size_t bytes) {
  return "must be no more than " + std::to_string(bytes) + " characters";
}

std::string ContentMaxLength(std::size_t bytes) {
  return "must be no more than " + std::to_string(bytes) + " bytes";
}

std::string Mismatch(std::string_view message, std::string_view pattern,
                     std::initializer_list<std::string_view> examples) {
  std::string text(message);
  text += " (e.g. ";
  bool first = true;
  for (const std::string_view example : examples) {
    if (!first) text += " or ";
    first = false;
    text += "'" + std::string(example) + "', ";
  }
  return text + "regex used for validation is '" + std::string(pattern) + "')";
}

std::string KeyMismatch() {
  return Mismatch(kKeyMessage, kKeyPattern, {"MyName", "my.name", "123-abc"});
}

// As Go's maskTrailingDash, which replaces the dash and the character before it by one.
std::string MaskTrailingDash(std::string_view name) {
  if (name.size() <= 1 || name.back() != '-') return std::string(name);
  return std::string(name.substr(0, name.size() - 2)) + "a";
}

// `too_long` makes the complaint, which most names do not need.
Complaints SubdomainComplaints(std::string_view value, std::string (*too_long)(std::size_t)) {
  Complaints complaints;
  if (value.size() > kSubdomainBytesMax) complaints.push_back(too_long(kSubdomainBytesMax));
  if (!MatchesDns1123Subdomain(value)) {
    complaints.push_back(
        Mismatch(kDns1123SubdomainMessage, kDns1123SubdomainPattern, {"example.com"}));
  }
  return complaints;
}

}  // namespace

Complaints IsDNS1123Label(std::string_view value) {
  Complaints complaints;
  if (value.size() > kLabelBytesMax) complaints.push_back(MaxLength(kLabelBytesMax));
  if (!MatchesDns1123Label(value)) {
    complaints.push_back(
        MatchesDns1123Subdomain(value)
            ? "must not contain dots"
            : Mismatch(kDns1123LabelMessage, kDns1123LabelPattern, {"my-name", "123-abc"}));
  }
  return complaints;
}

Complaints IsDNS1123Subdomain(std::string_view value) {
  return SubdomainComplaints(value, &MaxLength);
}

Complaints IsDNS1035Label(std::string_view value) {
  Complaints complaints;
  if (value.size() > kLabelBytesMax) complaints.push_back(MaxLength(kLabelBytesMax));
  if (!MatchesDns1123Label(value) || !IsLower(value.front())) {
    complaints.push_back(
        Mismatch(kDns1035LabelMessage, kDns1035LabelPattern, {"my-name", "abc-123"}));
  }
  return complaints;
}

Complaints IsQualifiedName(std::string_view value) {
  Complaints complaints;
  if (MatchesQualifiedName(value)) return complaints;
  std::string_view name = value;
  const std::size_t slash = value.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = value.substr(0, slash);
    name = value.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {"a valid label key " + KeyMismatch() +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    }
    if (prefix.empty()) {
      complaints.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& complaint : SubdomainComplaints(prefix, &ContentMaxLength)) {
        complaints.push_back("prefix part " + complaint);
      }
    }
  }
  if (name.empty()) {
    complaints.emplace_back("name part must be non-empty");
  } else if (name.size() > kLabelBytesMax) {
    complaints.push_back("name part " + ContentMaxLength(kLabelBytesMax));
  }
  if (!MatchesKey(name)) complaints.push_back("name part " + KeyMismatch());
  return complaints;
}

Complaints IsValidLabelValue(std::string_view value) {
  Complaints complaints;
  if (value.size() > kLabelBytesMax) complaints.push_back(ContentMaxLength(kLabelBytesMax));
  if (!value.empty() && !MatchesKey(value)) {
    complaints.push_back(
        Mismatch(kLabelValueMessage, kLabelValuePattern, {"MyValue", "my_value", "12345"}));
  }
  return complaints;
}

Complaints IsPathSegmentName(std::string_view value) {
  if (value == "." || value == "..") return {"may not be '" + std::string(value) + "'"};
  return IsPathSegmentPrefix(value);
}

Complaints IsPathSegmentPrefix(std::string_view value) {
  Complaints complaints;
  for (const char forbidden : {'/', '%'}) {
    if (value.find(forbidden) == std::string_view::npos) continue;
    complaints.push_back("may not contain '" + std::string(1, forbidden) + "'");
  }
  return complaints;
}

field::ErrorList IsFullyQualifiedDomainName(const field::Path& path, std::string_view name) {
  field::ErrorList errors;
  const auto refuse = [&](std::string_view part, const Complaints& complaints) {
    std::string text;
    for (const std::string& complaint : complaints) text += (text.empty() ? "" : ",") + complaint;
    errors.Invalid(path, part, std::move(text));
    return errors;
  };
  if (name.empty()) {
    errors.Required(path);
    return errors;
  }
  if (name.ends_with('.')) name.remove_suffix(1);
  if (const auto wrong = IsDNS1123Subdomain(name); !wrong.empty()) return refuse(name, wrong);
  if (name.find('.') == std::string_view::npos) {
    return refuse(name, {"should be a domain with at least two segments separated by dots"});
  }
  for (std::string_view rest = name;;) {
    const std::size_t dot = rest.find('.');
    const std::string_view label = rest.substr(0, dot);
    if (const auto wrong = IsDNS1123Label(label); !wrong.empty()) return refuse(label, wrong);
    if (dot == std::string_view::npos) return errors;
    rest.remove_prefix(dot + 1);
  }
}

// A prefix, which is what generateName is, may end with a dash, because a suffix will follow.
Complaints NameIsDNSSubdomain(std::string_view name, bool prefix) {
  return prefix ? IsDNS1123Subdomain(MaskTrailingDash(name)) : IsDNS1123Subdomain(name);
}

Complaints NameIsDNSLabel(std::string_view name, bool prefix) {
  return prefix ? IsDNS1123Label(MaskTrailingDash(name)) : IsDNS1123Label(name);
}

Complaints NameIsDNS1035Label(std::string_view name, bool prefix) {
  return prefix ? IsDNS1035Label(MaskTrailingDash(name)) : IsDNS1035Label(name);
}

Complaints ValidatePathSegmentName(std::string_view name, bool prefix) {
  return prefix ? IsPathSegmentPrefix(name) : IsPathSegmentName(name);
}

}  // namespace apiserver::v0::meta
