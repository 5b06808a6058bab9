#pragma once

#include <string_view>

#include "apiserver/runtime/names.h"

namespace apiserver::inline v0::storage::value {

// Parses "secrets" -> {"", "secrets"}, "*.apps" -> {"apps", "*"}, "*." -> {"", "*"}.
inline runtime::GroupResource ParseGroupResource(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return {"", std::string(text)};
  return {std::string(text.substr(dot + 1)), std::string(text.substr(0, dot))};
}

}  // namespace apiserver::inline v0::storage::value
