#pragma once

#include <string>
#include <string_view>

#include "apiserver/runtime/value.h"

// How messages of a Go server show JSON that was decoded into an interface{}.
namespace apiserver::inline v0::patch {

// fmt.Sprintf("%v"): `map[a:1 b:[x <nil>]]`.
std::string PrintGo(const runtime::Value& value);
// fmt.Sprintf("%s"), which complains of what is no text: `%!s(int64=1)`.
std::string PrintGoText(const runtime::Value& value);
// reflect.TypeOf() with %s: `map[string]interface {}`, `%!s(<nil>)`.
std::string_view GoTypeOf(const runtime::Value& value);

}  // namespace apiserver::inline v0::patch
