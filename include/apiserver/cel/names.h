#pragma once

#include <optional>
#include <string>
#include <string_view>

// Names of properties as expressions spell them: k8s.io/apiserver/pkg/cel/escaping.go.
namespace apiserver::inline v0::cel {

// Returns the name by which an expression selects the property: "__" becomes "__underscores__", "."
// "__dot__", "-" "__dash__", "/" "__slash__", a reserved word "__word__". nullopt: the property
// cannot be selected, as its name has other characters or begins with a digit.
std::optional<std::string> Escape(std::string_view property);

// Returns the property that an escaped name selects. nullopt: it has an unknown "__word__" group.
std::optional<std::string> Unescape(std::string_view escaped);

// Tells if the text is an identifier of the language and not reserved.
bool IsIdentifier(std::string_view text);

// Tells if the language reserves the word: "if", "namespace", "true", ….
bool IsReserved(std::string_view word);

}  // namespace apiserver::inline v0::cel
