#pragma once

#include <string>
#include <string_view>

#include "apiserver/codec/json.h"

// Short names for what every test of this room does.
namespace apiserver::inline v0::codec::testing {

inline std::string Json(runtime::Value value) {
  std::string out;
  AppendJson(value, out);
  return out;
}

// `text` parsed and written again; the error's message when it is refused.
inline std::string Again(std::string_view text) {
  runtime::Arena arena;
  const Result<runtime::Value> value = ParseJson(text, arena);
  return value.ok() ? Json(*value) : std::string(value.status().message());
}

}  // namespace apiserver::inline v0::codec::testing
