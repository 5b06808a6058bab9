#include "runtime/custom_findings.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <unordered_set>
#include <utility>

#include "runtime/formats.h"
#include "runtime/plain_json.h"
#include "runtime/scalar.h"

namespace apiserver::v0::runtime {

namespace {

using field::Error;

// Returns a float64 as Go's %v prints it: with an exponent from 1e+06 on and below 0.0001.
std::string GoFloat(double number) {
  std::array<char, 400> buffer;  // More than the digits of the largest double.
  const auto write = [&](std::chars_format format) {
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, format);
    return std::string(buffer.data(), end.ptr);
  };
  std::string text = write(std::chars_format::scientific);
  const std::size_t at = text.find('e');
  if (at == std::string::npos) return text;
  const int exponent = std::atoi(text.c_str() + at + 1);
  constexpr int kLeast = -4;
  constexpr int kMost = 5;
  return exponent < kLeast || exponent > kMost ? text : write(std::chars_format::fixed);
}

// Returns a bound as Go prints it: an int64 beside an integer, else a float64.
std::string Bound(const Value& value, double bound) {
  if (value.type() == Value::Type::kInt) return std::to_string(WholePart(bound));
  return GoFloat(bound);
}

// Returns the value that Go's field.Error shows. Texts are quoted.
std::string Shown(const Value& value) {
  return value.type() == Value::Type::kDouble ? GoFloat(value.AsDouble()) : PlainJson(value);
}

// Writes one finding as kubeOpenAPIResultToFieldErrors does.
class Writer {
 public:
  Writer(const CustomFinding& finding, std::string name, std::string_view prefix)
      : finding_(finding),
        limits_(finding.schema->constraints()),
        name_(std::move(name)),
        prefix_(prefix) {}

  Error Write() const {
    switch (finding_.problem) {
      case CustomProblem::kType:
      case CustomProblem::kFormat:
        return Type();
      case CustomProblem::kRequired:
        return {Error::Type::kRequired, Field(name_ + "." + std::string(finding_.name)), "", ""};
      case CustomProblem::kForbidden:
        return Invalid(
            field::QuoteShort(finding_.name),
            name_ + "." + field::Shorten(finding_.name) + " in body is a forbidden property");
      case CustomProblem::kEnum:
        return Enum();
      case CustomProblem::kTooLong:
      case CustomProblem::kMaxItems:
      case CustomProblem::kMaxProperties:
        return TooMuch();
      case CustomProblem::kAllOf:
      case CustomProblem::kAnyOf:
      case CustomProblem::kOneOf:
      case CustomProblem::kNot:
        return {Error::Type::kInvalid, Field(""), "\"\"", Whole()};
      case CustomProblem::kMultipleOf:
        if (BadFactor()) return Factor();
        [[fallthrough]];
      default:
        return Invalid(ShownValue(), name_ + " in body " + Rest());
    }
  }

 private:
  // Returns the path of an error. Go joins the two by a dot, whatever stands there.
  std::string Field(std::string_view name) const {
    if (name.starts_with('.')) name.remove_prefix(1);
    if (prefix_.empty()) return std::string(name.empty() ? "<nil>" : name);
    std::string path(prefix_);
    if (!name.empty()) path.append(".").append(name);
    return path;
  }
  Error Invalid(std::string shown, std::string detail) const {
    return {Error::Type::kInvalid, Field(name_), std::move(shown), std::move(detail)};
  }

  Error Type() const {
    std::string_view wanted = CustomFormat(*finding_.schema);
    std::string_view found;
    if (finding_.problem == CustomProblem::kFormat) {
      found = finding_.value.AsString();
    } else if (finding_.count == 1) {
      const Value::Type type = finding_.value.type();
      found = type == Value::Type::kInt ? "int64" : type == Value::Type::kDouble ? "float64" : "";
    } else {
      wanted = CustomTypes(*finding_.schema);
      found = CustomTypeOf(finding_.value);
    }
    const std::string quoted = field::QuoteShort(found);
    return {Error::Type::kTypeInvalid, Field(name_), quoted,
            name_ + " in body must be of type " + std::string(wanted) + ": " + quoted};
  }

  Error Enum() const {
    std::vector<std::string> supported;
    for (const Value& value : limits_.enum_values()) {
      supported.push_back(value.is_string() ? std::string(value.AsString()) : PlainJson(value));
    }
    field::ErrorList one;
    one.NotSupportedPrinted(field::Path(Field(name_)), Shown(finding_.value), supported);
    return one[0];
  }

  Error TooMuch() const {
    field::ErrorList one;
    const field::Path where(Field(name_));
    if (finding_.problem == CustomProblem::kTooLong) {
      one.TooLong(where, static_cast<long>(limits_.max_length().value_or(0)));
    } else {
      const bool items = finding_.problem == CustomProblem::kMaxItems;
      const std::optional<std::int64_t> limit =
          items ? limits_.max_items() : limits_.max_properties();
      one.TooMany(where, items ? finding_.value.size() : finding_.count,
                  static_cast<std::size_t>(limit.value_or(0)));
    }
    return one[0];
  }

  // Errors about junctors have no field in Go.
  std::string Whole() const {
    const std::string quoted = field::Quote(name_);
    switch (finding_.problem) {
      case CustomProblem::kAllOf:
        return quoted + " must validate all the schemas (allOf)" +
               (finding_.count == 0 ? ". None validated" : "");
      case CustomProblem::kAnyOf:
        return quoted + " must validate at least one schema (anyOf)";
      case CustomProblem::kOneOf:
        return quoted + " must validate one and only one schema (oneOf). " +
               (finding_.count == 0
                    ? "Found none valid"
                    : "Found " + std::to_string(finding_.count) + " valid alternatives");
      default:
        return quoted + " must not validate the schema (not)";
    }
  }

  std::string ShownValue() const {
    switch (finding_.problem) {
      case CustomProblem::kMinItems:
        return std::to_string(finding_.value.size());
      case CustomProblem::kMinProperties:
        return std::to_string(finding_.count);
      case CustomProblem::kUnique:
        return "\"\"";
      default:
        return Shown(finding_.value);
    }
  }

  // Nothing is a multiple of 0, nor an integer of 0.5 in Go.
  bool BadFactor() const {
    const double factor = limits_.multiple_of().value_or(0);
    return finding_.value.type() == Value::Type::kInt ? WholePart(factor) <= 0 : factor <= 0;
  }
  Error Factor() const {
    std::string factor = Bound(finding_.value, limits_.multiple_of().value_or(0));
    std::string detail = "factor MultipleOf declared for " + name_ + " must be positive: " + factor;
    return Invalid(std::move(factor), std::move(detail));
  }

  std::string Rest() const {
    const Value& value = finding_.value;
    switch (finding_.problem) {
      case CustomProblem::kTooShort:
        return "should be at least " + std::to_string(limits_.min_length().value_or(0)) +
               " chars long";
      case CustomProblem::kPattern:
        return "should match '" + std::string(limits_.pattern()) + "'";
      case CustomProblem::kMultipleOf:
        return "should be a multiple of " + Bound(value, limits_.multiple_of().value_or(0));
      case CustomProblem::kMaximum:
        return (limits_.exclusive_maximum() ? "should be less than "
                                            : "should be less than or equal to ") +
               Bound(value, limits_.maximum().value_or(0));
      case CustomProblem::kMinimum:
        return (limits_.exclusive_minimum() ? "should be greater than "
                                            : "should be greater than or equal to ") +
               Bound(value, limits_.minimum().value_or(0));
      case CustomProblem::kMinItems:
        return "should have at least " + std::to_string(limits_.min_items().value_or(0)) + " items";
      case CustomProblem::kMinProperties:
        return "should have at least " + std::to_string(limits_.min_properties().value_or(0)) +
               " properties";
      default:
        return "shouldn't contain duplicates";
    }
  }

  const CustomFinding& finding_;
  const ConstraintsView limits_;
  const std::string name_;
  const std::string_view prefix_;
};

}  // namespace

std::int64_t WholePart(double number) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (number >= kTwo63) return std::numeric_limits<std::int64_t>::max();
  if (number < -kTwo63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(number);
}

std::string_view CustomTypes(const Schema& schema) {
  if (schema.type == SchemaType::kIntOrString || schema.type == SchemaType::kQuantity) {
    return "integer,string";
  }
  return schema.type == SchemaType::kRaw ? "" : OpenApiType(schema);
}

std::string_view CustomTypeOf(const Value& value) {
  switch (value.type()) {
    case Value::Type::kNull:
      return "null";
    case Value::Type::kBool:
      return "boolean";
    case Value::Type::kInt:
      return "integer";
    case Value::Type::kDouble:
      return "number";
    case Value::Type::kList:
      return "array";
    case Value::Type::kMap:
    case Value::Type::kRaw:
      return "object";
    default:
      return "string";
  }
}

std::string_view CustomFormat(const Schema& schema) {
  const std::string_view format = schema.constraints().format();
  return !format.empty() && IsKnownFormat(format) ? format : std::string_view();
}

void WriteFindings(const std::vector<CustomFinding>& findings, const CustomPaths& paths,
                   std::string_view prefix, field::ErrorList& errors) {
  std::unordered_set<std::string> told;
  for (const CustomFinding& finding : findings) {
    if (errors.full()) return;
    Error error = Writer(finding, paths.Text(finding.path), prefix).Write();
    // Once the list is full the rest is only counted.
    if (errors.more() > 0 || told.insert(error.Message()).second) errors.Add(std::move(error));
  }
}

}  // namespace apiserver::v0::runtime
