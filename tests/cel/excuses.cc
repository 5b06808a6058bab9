#include "cel/excuses.h"

#include <string>

namespace cel_test {
namespace {

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool BothContain(const Difference& difference, std::string_view part) {
  return Contains(difference.go, part) && Contains(difference.ours, part);
}

// The first error of the grammar up to its words: "ERROR: <input>:1:5: Syntax error".
std::string_view FirstSyntaxError(std::string_view issues) {
  constexpr std::string_view kWords = "Syntax error";
  const std::size_t at = issues.find(kWords);
  if (at == std::string_view::npos) return {};
  const std::size_t line = issues.rfind("ERROR: ", at);
  return issues.substr(line, at + kWords.size() - line);
}

// Tells if both name the same first error of the grammar. The tokens that ANTLR would have
// expected are its own words, and what it makes of the rest may have errors of macros, too.
bool SameSyntaxError(const Difference& difference) {
  const std::string_view ours = FirstSyntaxError(difference.ours);
  return !ours.empty() && ours == FirstSyntaxError(difference.go);
}

// Writes a value without the optionals that it stands in.
std::string Flat(std::string_view value) {
  std::string flat(value);
  constexpr std::string_view kOptional = "{\"optional\":";
  while (flat.starts_with(kOptional)) {
    flat = flat.substr(kOptional.size(), flat.size() - kOptional.size() - 1);
  }
  return flat == R"({"null":null})" ? "null" : flat;
}

std::string_view ExcuseFor(std::string_view expression, const Difference& difference) {
  if (difference.member == "issues" && SameSyntaxError(difference)) return "ANTLR's words";
  if (BothContain(difference, "error parsing regexp: ")) return "RE2's words";
  // What ?: and a variable yield is unwrapped and wrapped again, which types of Kubernetes do not
  // survive, and of optionals within optionals only one is left.
  if (Contains(difference.go, "unsupported conversion to ref.Val: ")) return "optionals rewrapped";
  if (difference.member == "value" && Flat(difference.ours) == Flat(difference.go)) {
    return "optionals rewrapped";
  }
  // Its folding of constants takes a loop's variable that holds a type for the name of one.
  if (Contains(difference.go, "reference to undefined type: ")) return "Go folds types";
  // Go recovers from its own panics while it evaluates.
  if (Contains(difference.go, "internal error: ")) return "Go panics";
  const bool makes_quantities = Contains(expression, ".add(") || Contains(expression, ".sub(");
  if (makes_quantities &&
      (Contains(difference.go, "no such overload") || difference.member == "value")) {
    return "quantity by pointer";
  }
  return {};
}

}  // namespace

std::string_view ExcuseFor(std::string_view expression,
                           const std::vector<Difference>& differences) {
  // One is enough for all members: an error of another kind has another cost, too.
  for (const Difference& difference : differences) {
    const std::string_view excuse = ExcuseFor(expression, difference);
    if (!excuse.empty()) return excuse;
  }
  return {};
}

}  // namespace cel_test
