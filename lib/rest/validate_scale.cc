#include "rest/validate_scale.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/runtime/kind.h"
#include "runtime/plain_json.h"
#include "runtime/scalar.h"

namespace apiserver::v0::rest {
namespace {

using field::ErrorList;
using runtime::Value;

// Finds values as unstructured.NestedInt64 does, with its errors.
class ScaleCheck {
 public:
  ScaleCheck(const Value& root, ErrorList& errors) : root_(root), errors_(errors) {}

  void Replicas(std::string_view path) {
    Value value;
    if (!Find(path, "0", value) || value.is_null()) return;
    const field::Path where{std::string(path)};
    if (value.type() != Value::Type::kInt) {
      errors_.InvalidPrinted(where, "0", AccessorError(path, value, "int64"));
    } else if (value.AsInt() < 0) {
      errors_.InvalidPrinted(where, std::to_string(value.AsInt()),
                             "should be a non-negative integer");
    } else if (value.AsInt() > std::numeric_limits<std::int32_t>::max()) {
      errors_.InvalidPrinted(where, std::to_string(value.AsInt()),
                             "should be less than or equal to 2147483647");
    }
  }

  void Selector(std::string_view path) {
    Value value;
    if (path.empty() || !Find(path, "\"\"", value) || value.is_null() || value.is_string()) return;
    errors_.Invalid(field::Path(std::string(path)), "", AccessorError(path, value, "string"));
  }

 private:
  static std::string AccessorError(std::string_view path, const Value& value,
                                   std::string_view wanted) {
    std::string text(path);
    if (!text.starts_with('.')) text.insert(0, 1, '.');
    const std::string shown =
        value.is_string() ? std::string(value.AsString()) : runtime::PlainJson(value);
    text.append(" accessor error: ").append(field::Shorten(shown)).append(" is of the type ");
    return text.append(runtime::GoTypeOf(value)).append(", expected ").append(wanted);
  }

  // Null where it, or something on the way to it, is not there. False: the way is no object.
  bool Find(std::string_view path, std::string_view zero, Value& value) {
    value = root_;
    std::size_t begin = path.starts_with('.') ? 1 : 0;
    while (begin <= path.size() && !value.is_null()) {
      if (!value.is_map()) {
        errors_.InvalidPrinted(
            field::Path(std::string(path)), std::string(zero),
            AccessorError(path.substr(0, path.find('.', begin)), value, "map[string]interface{}"));
        return false;
      }
      const std::size_t end = std::min(path.find('.', begin), path.size());
      value = value[path.substr(begin, end - begin)];
      begin = end + 1;
    }
    return true;
  }

  const Value root_;
  ErrorList& errors_;
};

}  // namespace

ErrorList ValidateScale(const runtime::Object& object, runtime::SchemaPart part) {
  ErrorList errors;
  const runtime::KindVersion* const version = object.kind().FindVersion(object.version());
  if (version == nullptr || !version->scale) return errors;
  ScaleCheck check(object.root(), errors);
  if (part == runtime::SchemaPart::kObject) check.Replicas(version->scale->spec_replicas);
  check.Replicas(version->scale->status_replicas);
  check.Selector(version->scale->label_selector);
  return errors;
}

}  // namespace apiserver::v0::rest
