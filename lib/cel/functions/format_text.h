#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cel/function.h"

// Format strings: ext/formatting.go of cel-go.
namespace apiserver::inline v0::cel::functions {

// A clause of a format string: "%s", "%.2f".
struct FormatClause {
  char verb = 's';  // One of s d f e b o x X.
  std::optional<std::uint64_t> precision = std::nullopt;
  std::size_t bytes = 0;  // Its length without the percent sign.
};

// Parses the clause behind a percent sign; `rest` must not be empty. nullopt: `error` has Go's
// words.
std::optional<FormatClause> ParseFormatClause(std::string_view rest, std::string& error);

// Returns the error of a clause whose argument has the wrong type: "decimal clause can only be used
// on integers, was given string".
std::string WrongTypeOfClause(char verb, std::string_view type);

// The handler of "format".
Value FormatString(CallContext& call, std::span<const Value> arguments);

}  // namespace apiserver::inline v0::cel::functions
