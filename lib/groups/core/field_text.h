#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::groups::core {

// Returns the text of a member by its path, "spec.nodeName", as field selectors compare it. A bool
// that is missing is false.
inline std::string FieldText(const runtime::Object& object, std::string_view path,
                             bool is_bool = false) {
  runtime::Value value = object.root();
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    value = value[path.substr(0, dot)];
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  if (is_bool) return value.AsBool() ? "true" : "false";
  return std::string(value.AsString());
}

}  // namespace apiserver::inline v0::groups::core
