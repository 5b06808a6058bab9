#pragma once

#include <optional>
#include <string>

#include "apiserver/runtime/object.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::groups::core {

// Returns a value of a Secret's data, decoded, whether it came as bytes or as base64; null reads as
// empty. nullopt: it is no base64.
std::optional<std::string> SecretValue(runtime::Value value);

// Moves the texts of stringData to data, where they replace present values: as
// Convert_v1_Secret_To_core_Secret.
void MoveStringData(runtime::Object& secret);

}  // namespace apiserver::inline v0::groups::core
