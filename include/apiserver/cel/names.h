#pragma once

#include <optional>
#include <string>
#include <string_view>

// Names of properties and variables in expressions: pkg/cel/escaping.go of k8s.io/apiserver. All
// functions are pure and may be called on any thread.
namespace apiserver::inline v0::cel {

// Returns the identifier by which an expression selects the property `name` of an object with a
// schema. A name that is a reserved word as a whole, and "__", ".", "-" and "/" inside a name,
// become words between double underscores: "in" is "__in__", "a.b" is "a__dot__b". Returns nullopt
// for names that no expression can select: empty ones, those that begin with a digit, and those
// with any other character.
std::optional<std::string> Escape(std::string_view name);

// Returns the property that an identifier made by Escape() selects. Returns nullopt if a word
// between double underscores is none of Escape()'s. The text is not checked otherwise.
std::optional<std::string> Unescape(std::string_view identifier);

// Returns true if `name` can be the name of a variable: letters, digits and underscores that do not
// begin with a digit and are no reserved word.
bool IsIdentifier(std::string_view name);

}  // namespace apiserver::inline v0::cel
