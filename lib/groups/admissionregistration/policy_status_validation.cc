#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "apiserver/meta/validation.h"
#include "groups/admissionregistration/policy_validation.h"
#include "text/ascii.h"
#include "text/trim.h"
#include "text/utf8.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr long kReasonBytesMax = 1024;
constexpr long kMessageBytesMax = 32L * 1024;

// Reads a JSONPath as far as needed to see that client-go's parser takes it.
class FieldRef {
 public:
  explicit FieldRef(std::string_view text) : left_(text) {}

  // Returns the parser's error. Empty: there is none.
  std::string Error() {
    std::string error;
    while (!left_.empty() && error.empty()) error = Step();
    return error;
  }

 private:
  std::string Step() {
    if (left_.starts_with("[?(")) return SkipTo(")]", "unterminated filter");
    if (left_.front() == '[') return Index();
    if (left_.front() == '"' || left_.front() == '\'') {
      return SkipTo(left_.substr(0, 1), "unterminated quoted string");
    }
    const text::Rune rune = text::FirstRune(left_);
    static constexpr std::string_view kPlain = " @$.+-_";
    const bool plain = rune.code >= 0x80 || text::IsLetter(left_.front()) ||
                       text::IsDigit(left_.front()) || kPlain.find(left_.front()) != kPlain.npos;
    if (!plain) return "unrecognized character in action: " + Named(rune);
    left_.remove_prefix(rune.text.size());
    return "";
  }

  // Goes behind the next `end`, which is not the first character.
  std::string SkipTo(std::string_view end, std::string_view missing) {
    const std::size_t at = left_.find(end, 1);
    if (at == left_.npos) return std::string(missing);
    left_.remove_prefix(at + end.size());
    return "";
  }

  std::string Index() {
    const std::size_t end = left_.find(']');
    if (end == left_.npos) return "unterminated array";
    std::string_view items = left_.substr(1, end - 1);
    left_.remove_prefix(end + 1);
    while (true) {
      const std::size_t comma = items.find(',');
      const std::string_view item = text::TrimSpace(items.substr(0, comma));
      if (!IsIndex(item)) return "invalid array index " + std::string(item);
      if (comma == items.npos) return "";
      items.remove_prefix(comma + 1);
    }
  }

  // True for '*', 'key', and up to three numbers with colons between them.
  static bool IsIndex(std::string_view item) {
    if (item == "*") return true;
    if (item.size() >= 2 && item.front() == '\'' && item.back() == '\'') return true;
    return std::ranges::count(item, ':') <= 2 && std::ranges::all_of(item, [](char c) {
             return text::IsDigit(c) || c == ':' || c == '-';
           });
  }

  // Prints "U+0021 '!'", as Go's %#U.
  static std::string Named(const text::Rune& rune) {
    static constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string named = "U+00";
    named += kDigits[(rune.code >> 4) & 0xF];
    named += kDigits[rune.code & 0xF];
    if (rune.code >= 0x20 && rune.code != 0x7F) named += " '" + std::string(rune.text) + "'";
    return named;
  }

  std::string_view left_;
};

void CheckWarning(const Value& warning, const Path& path, ErrorList& errors) {
  if (warning["warning"].AsString().empty()) errors.Required(path.Child("warning"));
  const std::string_view ref = text::TrimSpace(warning["fieldRef"].AsString());
  const Path at = path.Child("fieldRef");
  if (ref.empty()) return errors.Required(at);
  const std::string error = FieldRef(ref).Error();
  if (!error.empty()) errors.Invalid(at, ref, "invalid JSONPath: " + error);
}

// Checks as isValidConditionReason: a word, with commas and colons between.
bool IsConditionReason(std::string_view reason) {
  const auto inner = [](char c) { return text::IsLetter(c) || text::IsDigit(c) || c == '_'; };
  return text::IsLetter(reason.front()) && inner(reason.back()) &&
         std::ranges::all_of(reason, [&](char c) { return inner(c) || c == ',' || c == ':'; });
}

void CheckReason(std::string_view reason, const Path& path, ErrorList& errors) {
  if (reason.empty()) return errors.Required(path);
  if (!IsConditionReason(reason)) {
    errors.Invalid(path, reason,
                   "a condition reason must start with alphabetic character, optionally followed "
                   "by a string of alphanumeric characters or '_,:', and must end with an "
                   "alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  "
                   "or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
                   "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
  }
  if (reason.size() > kReasonBytesMax) errors.TooLong(path, kReasonBytesMax);
}

// Checks as metav1validation.ValidateCondition.
void CheckCondition(const Value& condition, const Path& path, ErrorList& errors) {
  errors.Append(meta::ValidateLabelName(condition["type"].AsString(), path.Child("type")));
  static constexpr std::array<std::string_view, 3> kStatuses = {"False", "True", "Unknown"};
  const std::string_view status = condition["status"].AsString();
  if (std::ranges::find(kStatuses, status) == kStatuses.end()) {
    errors.NotSupported(path.Child("status"), status, {"False", "True", "Unknown"});
  }
  if (const std::int64_t observed = condition["observedGeneration"].AsInt(); observed < 0) {
    errors.InvalidPrinted(path.Child("observedGeneration"), std::to_string(observed),
                          "must be greater than or equal to zero");
  }
  if (condition["lastTransitionTime"].is_null()) {
    errors.Required(path.Child("lastTransitionTime"));
  }
  CheckReason(condition["reason"].AsString(), path.Child("reason"), errors);
  if (condition["message"].size() > static_cast<std::size_t>(kMessageBytesMax)) {
    errors.TooLong(path.Child("message"), kMessageBytesMax);
  }
}

}  // namespace

ErrorList ValidatePolicyStatus(const runtime::Object& policy) {
  ErrorList errors;
  const Path path("status");
  const Value warnings = policy["status"]["typeChecking"]["expressionWarnings"];
  for (std::size_t i = 0; i < warnings.size() && !errors.full(); ++i) {
    CheckWarning(warnings.at(i), path.Child("typeChecking").Child("expressionWarnings").Index(i),
                 errors);
  }
  const Value conditions = policy["status"]["conditions"];
  std::set<std::string_view> types;
  for (std::size_t i = 0; i < conditions.size() && !errors.full(); ++i) {
    const Path at = path.Child("conditions").Index(i);
    const std::string_view type = conditions.at(i)["type"].AsString();
    if (!types.insert(type).second) errors.Duplicate(at.Child("type"), type);
    CheckCondition(conditions.at(i), at, errors);
  }
  return errors;
}

}  // namespace apiserver::v0::groups::admissionregistration
