#pragma once

#include "codec/text.h"
#include "require.h"

namespace apiserver_fuzz {

// Requires that a value, written as JSON, can be read.
inline void RequireJson(apiserver::runtime::Value value) {
  apiserver::runtime::Arena arena;
  Require(apiserver::codec::ParseJson(apiserver::codec::testing::Json(value), arena).ok());
}

}  // namespace apiserver_fuzz
