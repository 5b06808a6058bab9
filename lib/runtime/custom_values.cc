#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "runtime/custom_check.h"
#include "runtime/formats.h"
#include "runtime/patterns.h"
#include "runtime/plain_json.h"
#include "runtime/value_kinds.h"
#include "text/utf8.h"

// The checks of CustomCheck that look at one value only.
namespace apiserver::v0::runtime {

namespace {

// Follows IsFloat64AJSONInteger of go-openapi's swag, which takes what is a little above a whole
// number, too.
bool IsWhole(double number) {
  constexpr double kMax = 9007199254740991.0;
  constexpr double kEpsilon = 1e-9;
  if (std::isnan(number) || number < -kMax || number > kMax) return false;
  const double whole = std::trunc(number);
  if (number == whole) return true;
  if (number < 0 || whole == 0) return false;
  return (number - whole) / (number + whole) < kEpsilon;
}

// Tells if Go's reflect converts the value to an entry of an enum that is deeply equal.
bool EqualsEntry(const Value& value, const Value& entry) {
  using Type = Value::Type;
  if (value.is_null() || entry.is_null()) return false;
  if (value.type() == Type::kInt && entry.type() == Type::kDouble) {
    return static_cast<double>(value.AsInt()) == entry.AsDouble();
  }
  if (value.type() == Type::kDouble && entry.type() == Type::kInt) {
    return WholePart(value.AsDouble()) == entry.AsInt();
  }
  if (value.type() == Type::kInt && entry.is_string()) {
    // Go takes the number for a character.
    constexpr std::int64_t kRuneMax = 0x10FFFF;
    const bool rune = value.AsInt() >= 0 && value.AsInt() <= kRuneMax;
    std::string character;
    text::AppendRune(rune ? static_cast<std::uint32_t>(value.AsInt()) : text::kReplacementRune,
                     character);
    return entry.AsString() == text::ReplaceInvalidUtf8(character);
  }
  return value == entry;
}

}  // namespace

// Tells if values of `schema` may have a type.
bool CustomCheck::Holds(const Schema& schema, std::string_view type) {
  if (schema.type == SchemaType::kIntOrString || schema.type == SchemaType::kQuantity) {
    return type == "integer" || type == "string";
  }
  return CustomTypes(schema) == type;
}

std::size_t CustomCheck::Null(const Spot& spot) {
  Enum(spot);
  if (CustomTypes(spot.schema).empty() || spot.schema.nullable) return 1;
  Report(CustomProblem::kType, spot);
  return 0;
}

std::size_t CustomCheck::Type(const Spot& spot) {
  const std::string_view format = CustomFormat(spot.schema);
  const std::string_view types = CustomTypes(spot.schema);
  if (types.empty() && format.empty()) return 0;
  const Value& value = spot.value;
  if (value.type() == Value::Type::kRaw) return 2;
  const std::string_view found = CustomTypeOf(value);
  const bool integer = Holds(spot.schema, "integer");
  const bool number = Holds(spot.schema, "number");
  const bool fits =
      Holds(spot.schema, found) ||
      (value.type() == Value::Type::kDouble && integer && IsWhole(value.AsDouble())) ||
      (value.type() == Value::Type::kInt && number);
  if (fits) return 2;
  if (!format.empty() && !IsText(value) && !value.is_list()) {
    Report(CustomProblem::kType, spot, {}, 1);
    return 1;
  }
  // Go leaves texts and lists to the format, which looks at texts only.
  if (!format.empty() && !integer && !number) return 2;
  Report(CustomProblem::kType, spot);
  return 1;
}

// A text stops at the first thing that is wrong with it; its format is another check.
std::size_t CustomCheck::Text(const Spot& spot) {
  const ConstraintsView limits = spot.schema.constraints();
  const std::string_view text = spot.value.AsString();
  const std::optional<std::int64_t> most = limits.max_length();
  const std::optional<std::int64_t> least = limits.min_length();
  const std::int64_t length = most || least ? CodePoints(text) : 0;
  const Pattern* const pattern = limits.compiled_pattern();
  if (most && length > *most) {
    Report(CustomProblem::kTooLong, spot);
  } else if (least && length < *least) {
    Report(CustomProblem::kTooShort, spot);
  } else if (pattern != nullptr && !pattern->Matches(text)) {
    Report(CustomProblem::kPattern, spot);
  }
  const std::string_view format = CustomFormat(spot.schema);
  if (format.empty()) return 1;
  if (!MatchesFormat(format, text)) Report(CustomProblem::kFormat, spot);
  return 2;
}

// Kubernetes 1.35 holds an integer against no range that its format has; 1.37 does.
std::size_t CustomCheck::Number(const Spot& spot) {
  Multiple(spot);
  Bounds(spot);
  return 2;
}

void CustomCheck::Multiple(const Spot& spot) {
  const std::optional<double> factor = spot.schema.constraints().multiple_of();
  if (!factor) return;
  bool multiple = false;
  if (spot.value.type() == Value::Type::kInt) {
    const std::int64_t whole = WholePart(*factor);
    multiple = whole > 0 && spot.value.AsInt() % whole == 0;
  } else if (*factor > 0) {
    const double number = spot.value.AsDouble();
    multiple = IsWhole(*factor < 1 ? 1 / *factor * number : number / *factor);
  }
  if (!multiple) Report(CustomProblem::kMultipleOf, spot);
}

void CustomCheck::Bounds(const Spot& spot) {
  const ConstraintsView limits = spot.schema.constraints();
  // An integer is compared with the bound's whole part, as Go does.
  const auto order = [&spot](double bound) {
    if (spot.value.type() == Value::Type::kInt) {
      const std::int64_t whole = WholePart(bound);
      return spot.value.AsInt() < whole ? -1 : spot.value.AsInt() > whole ? 1 : 0;
    }
    return spot.value.AsDouble() < bound ? -1 : spot.value.AsDouble() > bound ? 1 : 0;
  };
  if (const std::optional<double> most = limits.maximum()) {
    if (order(*most) > (limits.exclusive_maximum() ? -1 : 0)) {
      Report(CustomProblem::kMaximum, spot);
    }
  }
  if (const std::optional<double> least = limits.minimum()) {
    if (order(*least) < (limits.exclusive_minimum() ? 1 : 0)) {
      Report(CustomProblem::kMinimum, spot);
    }
  }
}

void CustomCheck::Enum(const Spot& spot) {
  const std::span<const Value> entries = spot.schema.constraints().enum_values();
  if (entries.empty()) return;
  steps_ += entries.size() / 8;
  const bool found = std::any_of(entries.begin(), entries.end(), [&spot](const Value& entry) {
    return EqualsEntry(spot.value, entry);
  });
  if (!found) Report(CustomProblem::kEnum, spot);
}

// Checks all but what a value holds. The matches are kube-openapi's: one for each validator that
// looks at the value, and one for some that find nothing.
std::size_t CustomCheck::Scalar(const Spot& spot) {
  if (spot.value.is_null()) return Null(spot);
  constexpr std::size_t kAlways = 4;  // Junctors twice, the enum, the schema itself.
  std::size_t matches = kAlways + Type(spot);
  if (IsText(spot.value)) matches += Text(spot);
  if (spot.value.is_number()) matches += Number(spot);
  if (spot.value.is_list() || spot.value.is_map()) ++matches;
  Enum(spot);
  return matches;
}

void CustomCheck::ListSize(const Spot& spot) {
  const ConstraintsView limits = spot.schema.constraints();
  const auto size = static_cast<std::int64_t>(spot.value.size());
  if (limits.min_items() && size < *limits.min_items()) Report(CustomProblem::kMinItems, spot);
  if (limits.max_items() && size > *limits.max_items()) Report(CustomProblem::kMaxItems, spot);
  if (!limits.unique_items()) return;
  std::unordered_set<std::string> seen;
  for (const Value& item : spot.value.items()) {
    if (seen.insert(PlainJson(item)).second) continue;
    return Report(CustomProblem::kUnique, spot);
  }
}

void CustomCheck::MapSize(const Spot& spot) {
  const ConstraintsView limits = spot.schema.constraints();
  const auto size = static_cast<std::int64_t>(spot.size);
  if (limits.min_properties() && size < *limits.min_properties()) {
    Report(CustomProblem::kMinProperties, spot, {}, spot.size);
  }
  if (limits.max_properties() && size > *limits.max_properties()) {
    Report(CustomProblem::kMaxProperties, spot, {}, spot.size);
  }
}

}  // namespace apiserver::v0::runtime
