#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <string>
#include <string_view>

#include "apiserver/runtime/value.h"

// Prints JSON that was decoded into an interface{} as messages of a Go server show it. Its quoting,
// %q, is field::Quote.
namespace apiserver::inline v0::patch {

// The length at which messages that may show many values cut each of them off.
constexpr std::size_t kShownBytesMax = 8 << 10;

// fmt.Sprintf("%v"): `map[a:1 b:[x <nil>]]`. A longer text than `bytes_max` ends in "..." soon
// after it; a string within stops there.
std::string PrintGo(const runtime::Value& value, std::size_t bytes_max = std::string::npos);
// fmt.Sprintf("%s"), which reports values that are no text: `%!s(int64=1)`.
std::string PrintGoText(const runtime::Value& value);
// fmt.Sprintf("%#v"): `map[string]interface {}{"a":1}`. Cut off as PrintGo does.
std::string PrintGoSyntax(const runtime::Value& value, std::size_t bytes_max);
// %v of a float64: `1e+06`.
void AppendGoFloat(double number, std::string& out);

}  // namespace apiserver::inline v0::patch
