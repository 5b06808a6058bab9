#pragma once

#include <string>
#include <string_view>

#include "apiserver/codec/json.h"

namespace apiserver::inline v0::testing {

// Parses JSON that may be gone before the result.
inline runtime::Value ParseConversionJson(std::string_view text, runtime::Arena& arena) {
  return codec::ParseJson(arena.Copy(text), arena).value();
}

inline std::string ConversionJson(const runtime::Value& value) {
  std::string json;
  codec::AppendJson(value, json);
  return json;
}

}  // namespace apiserver::inline v0::testing
