#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "apiextensions/validation/parts.h"

namespace apiserver::v0::apiextensions {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::array<std::string_view, 5> kColumnTypes = {"boolean", "date", "integer", "number",
                                                          "string"};
constexpr std::array<std::string_view, 8> kColumnFormats = {
    "byte", "date", "date-time", "double", "float", "int32", "int64", "password"};

bool IsOneOf(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string MustBeOneOf(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    text.append(text.empty() ? "must be one of " : ",").append(word);
  }
  return text;
}

// Kubernetes looks at no more than the first character of a path.
bool CheckSimplePath(std::string_view text, const Path& path, ErrorList& errors) {
  if (text.starts_with('.')) return true;
  errors.Invalid(path, text, "must be a simple json path starting with .");
  return false;
}

void CheckColumn(const Value& column, const Path& path, ErrorList& errors) {
  const std::string_view type = column["type"].AsString();
  const std::string_view format = column["format"].AsString();
  const std::string_view json_path = column["jsonPath"].AsString();
  if (column["name"].AsString().empty()) errors.Required(path.Child("name"));
  if (type.empty()) {
    errors.Required(path.Child("type"), MustBeOneOf(kColumnTypes));
  } else if (!IsOneOf(kColumnTypes, type)) {
    errors.Invalid(path.Child("type"), type, MustBeOneOf(kColumnTypes));
  }
  if (!format.empty() && !IsOneOf(kColumnFormats, format)) {
    errors.Invalid(path.Child("format"), format, MustBeOneOf(kColumnFormats));
  }
  if (json_path.empty()) return errors.Required(path.Child("JSONPath"));
  CheckSimplePath(json_path, path.Child("JSONPath"), errors);
}

void CheckReplicasPath(std::string_view text, std::string_view below, const Path& path,
                       ErrorList& errors) {
  if (text.empty()) return errors.Required(path);
  if (!CheckSimplePath(text, path, errors)) return;
  if (text.starts_with(std::string(below) + ".")) return;
  errors.Invalid(path, text, "should be a json path under " + std::string(below));
}

}  // namespace

void ValidateColumns(const Value& columns, const Path& path, ErrorList& errors) {
  for (std::size_t i = 0; i < columns.size() && !errors.full(); ++i) {
    CheckColumn(columns.at(i), path.Index(i), errors);
  }
}

void ValidateSubresources(const Value& subresources, const Path& path, ErrorList& errors) {
  const Value scale = subresources["scale"];
  if (scale.is_null()) return;
  CheckReplicasPath(scale["specReplicasPath"].AsString(), ".spec",
                    path.Child("scale.specReplicasPath"), errors);
  CheckReplicasPath(scale["statusReplicasPath"].AsString(), ".status",
                    path.Child("scale.statusReplicasPath"), errors);
  const std::string_view selector = scale["labelSelectorPath"].AsString();
  const Path at = path.Child("scale.labelSelectorPath");
  if (selector.empty() || !CheckSimplePath(selector, at, errors)) return;
  if (selector.starts_with(".spec.") || selector.starts_with(".status.")) return;
  errors.Invalid(at, selector, "should be a json path under either .spec or .status");
}

}  // namespace apiserver::v0::apiextensions
