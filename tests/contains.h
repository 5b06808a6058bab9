#pragma once

#include <string_view>

namespace apiserver::inline v0::testing {

inline bool Contains(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

}  // namespace apiserver::inline v0::testing
