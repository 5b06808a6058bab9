#pragma once

#include <string>
#include <string_view>

#include "apiserver/runtime/value.h"

// What Go's fmt prints of unstructured values, as far as error messages show it.
namespace apiserver::inline v0::patch::apply {

// %q of a string: strconv.Quote.
void AppendGoQuoted(std::string_view text, std::string& out);
// %v of a float64.
void AppendGoFloat(double number, std::string& out);
// A float64 as json-iterator writes it.
void AppendJsonFloat(double number, std::string& out);
// %T: "string", "map[string]interface {}".
std::string_view GoTypeName(const runtime::Value& value);
// %v: "map[a:1 b:<nil>]". Cut off after some thousand bytes.
std::string GoValue(const runtime::Value& value);
// %#v: `map[string]interface {}{"a":1}`. Cut off likewise.
std::string GoSyntax(const runtime::Value& value);

}  // namespace apiserver::inline v0::patch::apply
