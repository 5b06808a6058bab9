#pragma once

#include <string_view>

#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::codec {

// Returns a deep copy of `value`, which was written as the JSON in `text`: strings that stand in
// the text as they are point there, others are copied. `text` and `arena` must outlive the copy.
// Any text gives an equal copy; one that holds the strings in the order of `value` a small one.
runtime::Value CopyOver(std::string_view text, const runtime::Value& value, runtime::Arena& arena);

}  // namespace apiserver::inline v0::codec
