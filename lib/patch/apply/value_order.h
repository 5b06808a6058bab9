#pragma once

#include <string>

#include "apiserver/runtime/value.h"

// Compares values as structured-merge-diff does: numbers by value and not by type; raw JSON by its
// content; bytes as their base64 text.
namespace apiserver::inline v0::patch::apply {

// Negative, zero or positive. A total order: numbers, strings, booleans, lists, maps, null.
int CompareValues(const runtime::Value& a, const runtime::Value& b);

// The value as paths in errors print it: 80, "x", true, [1,2].
void AppendPathValue(const runtime::Value& value, std::string& out);

}  // namespace apiserver::inline v0::patch::apply
