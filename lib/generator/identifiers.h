#pragma once

#include <set>
#include <string>
#include <string_view>

// Names of C++ for the names of JSON, and texts for its source.
namespace apiserver::inline v0::generator {

// True for "zoo" and "com::example".
bool IsNamespace(std::string_view name);

// Returns `name` as the name of a member: with underscores for what no C++ name may have, and
// behind a keyword or a name that the C library defines as a macro.
std::string MemberName(std::string_view name);
// The same as a part of a type's or constant's name: "spec" becomes "Spec".
std::string Capitalized(std::string_view name);
// Returns `name`, with as many underscores behind it as it takes to be new in `taken`.
std::string Unique(std::string name, std::set<std::string>& taken);

// Returns `text` as a string literal.
std::string Literal(std::string_view text);
// Returns `text` as lines of comments of at most 100 columns; empty for no text.
std::string Comment(std::string_view text, std::string_view indent);

}  // namespace apiserver::inline v0::generator
