#pragma once

#include <optional>
#include <string>

#include "apiserver/runtime/object.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::groups::core {

// A value of a Secret's data, decoded, whether it came as bytes or as base64; null reads as empty.
// nullopt: no base64.
std::optional<std::string> SecretValue(runtime::Value value);

// What clients write as text in stringData goes to data, and wins over what is there: as
// Convert_v1_Secret_To_core_Secret.
void MoveStringData(runtime::Object& secret);

}  // namespace apiserver::inline v0::groups::core
