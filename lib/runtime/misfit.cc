#include <utility>

#include "apiserver/runtime/quantity.h"
#include "apiserver/runtime/time.h"
#include "runtime/scalar.h"
#include "text/base64.h"

namespace apiserver::v0::runtime {

namespace {

std::string ParserError(const Status& status) { return std::string(status.message()); }

std::string Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

// Returns the name that encoding/json uses for a value, with the number itself only where it does.
std::string Word(const Value& value, bool with_number) {
  switch (value.type()) {
    case Value::Type::kBool:
      return "bool";
    case Value::Type::kInt:
      return with_number ? "number " + std::to_string(value.AsInt()) : "number";
    case Value::Type::kDouble:
      return with_number ? "number " + GoNumber(value.AsDouble()) : "number";
    case Value::Type::kList:
      return "array";
    case Value::Type::kMap:
    case Value::Type::kRaw:
      return "object";
    default:
      return "string";
  }
}

Misfit MessageOf(std::string message) { return {"", "", std::move(message), /*ends=*/true}; }

// Explains a []byte that does not fit: encoding/json reads it from base64 or from a list of
// numbers.
Misfit BytesMisfit(const Value& value) {
  if (value.is_list()) {
    for (const Value& item : value.items()) {
      const bool fits =
          item.type() == Value::Type::kInt && item.AsInt() >= 0 && item.AsInt() <= 255;
      if (!fits) return {Word(item, /*with_number=*/true), "uint8", ""};
    }
  }
  if (!value.is_string()) return {Word(value, false), "[]uint8", ""};
  std::size_t error_at = 0;
  (void)text::DecodeBase64(value.AsString(), &error_at);  // It fails, and says where.
  return {"", "", "illegal base64 data at input byte " + std::to_string(error_at)};
}

}  // namespace

std::string GoNumber(double number) {
  const std::string text = DoubleText(number);
  // A whole number came here because it was written with a fraction, or is too large for an int64.
  const bool whole = text.find_first_of(".e") == std::string::npos;
  constexpr double kTwo63 = 9223372036854775808.0;
  return whole && number < kTwo63 && number >= -kTwo63 ? text + ".0" : text;
}

Misfit WhyUnfit(const Schema& schema, const Value& value) {
  switch (schema.type) {
    case SchemaType::kBytes:
      return BytesMisfit(value);
    case SchemaType::kTime:
    case SchemaType::kMicroTime:
      if (!value.is_string()) return {Word(value, false), "string", "", /*ends=*/true};
      return MessageOf(ParserError(schema.type == SchemaType::kTime
                                       ? ParseTime(value.AsString()).status()
                                       : ParseMicroTime(value.AsString()).status()));
    case SchemaType::kDuration:
      if (!value.is_string() && !value.is_null()) {
        return {Word(value, false), "string", "", /*ends=*/true};
      }
      return MessageOf(ParserError(ParseDuration(value.AsString()).status()));
    case SchemaType::kQuantity:
      return MessageOf(ParserError(Quantity::Parse(Trimmed(value.AsString())).status()));
    case SchemaType::kIntOrString:
      return {Word(value, /*with_number=*/true), "int32", "", /*ends=*/true};
    case SchemaType::kInteger:
    case SchemaType::kNumber:
      return {Word(value, /*with_number=*/true), GoType(schema), ""};
    default:
      return {Word(value, false), GoType(schema), ""};
  }
}

std::string_view GoName(const Schema& schema) {
  const std::string_view name = schema.name();
  return name.substr(name.rfind('.') + 1);
}

// Writes a type as Go's reflect.Type.String() does: a named one has the last part of its package.
std::string GoType(const Schema& schema) {
  std::string prefix;
  const Schema* at = &schema;
  while ((at->type == SchemaType::kList || at->type == SchemaType::kMap) &&
         at->items() != nullptr) {
    prefix += at->type == SchemaType::kList ? "[]" : "map[string]";
    at = at->items().get();
  }
  switch (at->type) {
    case SchemaType::kBoolean:
      return prefix + "bool";
    case SchemaType::kInteger:
      return prefix + (at->bits == 32 ? "int32" : "int64");
    case SchemaType::kNumber:
      return prefix + "float64";
    case SchemaType::kString:
      return prefix + "string";
    case SchemaType::kBytes:
      return prefix + "[]uint8";
    case SchemaType::kTime:
      return prefix + "v1.Time";
    case SchemaType::kMicroTime:
      return prefix + "v1.MicroTime";
    case SchemaType::kDuration:
      return prefix + "v1.Duration";
    case SchemaType::kQuantity:
      return prefix + "resource.Quantity";
    case SchemaType::kIntOrString:
      return prefix + "intstr.IntOrString";
    case SchemaType::kStruct:
      break;
    default:
      return prefix + "interface {}";
  }
  const std::string_view name = at->name();
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos)
    return prefix + (name.empty() ? "struct {}" : std::string(name));
  const std::size_t package = name.rfind('.', dot - 1);
  return prefix + std::string(name.substr(package == std::string_view::npos ? 0 : package + 1));
}

}  // namespace apiserver::v0::runtime
