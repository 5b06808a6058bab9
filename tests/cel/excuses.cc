#include "cel/excuses.h"

#include <algorithm>

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

// Tells if Go has an error that ours does not have, in the value or as the error.
bool OnlyGoHas(const Difference& difference, std::string_view error) {
  return Contains(difference.go, error) && !Contains(difference.ours, error);
}

// Tells if a call that makes a quantity stands in the expression, and one that compares.
bool ComparesMadeQuantity(std::string_view expression) {
  if (!Contains(expression, ".add(") && !Contains(expression, ".sub(")) return false;
  for (const std::string_view comparison :
       {"==", "!=", " in ", "sets.", ".indexOf(", ".lastIndexOf(", ".distinct()"}) {
    if (Contains(expression, comparison)) return true;
  }
  return false;
}

// Tells if a list or map of CEL is read through the schema of the data that it was added to. Ours
// keeps the items that were added as they are.
bool ReadsAddedThroughSchema(const Difference& difference) {
  return OnlyGoHas(difference, "invalid data, expected an array for the provided schema") ||
         OnlyGoHas(difference, "invalid data, expected a map for the provided schema") ||
         OnlyGoHas(difference, "invalid data, expected string, got []uint8") ||
         OnlyGoHas(difference, "got *errors.errorString");
}

// Tells if quantities with a fraction are added or subtracted more than once.
bool ReusesFraction(std::string_view expression) {
  const std::size_t made = expression.find("quantity('");
  if (made == std::string_view::npos) return false;
  const std::size_t end = expression.find(')', made);
  if (expression.substr(made, end - made).find('.') == std::string_view::npos) return false;
  std::size_t operations = 0;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const std::string_view rest = expression.substr(at);
    if (rest.starts_with(".add(") || rest.starts_with(".sub(")) ++operations;
  }
  return operations > 1;
}

std::string_view ExcuseFor(std::string_view expression, const Difference& difference) {
  if (difference.member == "issues" && SameSyntaxError(difference)) return "ANTLR's words";
  if (BothContain(difference, "error parsing regexp: ")) return "RE2's words";
  // The suffix with which a quantity was written is not kept.
  if (BothContain(difference, "unsupported conversion to ref.Val: (*resource.Quantity)")) {
    return "the text of a quantity";
  }
  if (Contains(expression, "+") && ReadsAddedThroughSchema(difference)) return "added to data";
  // Its folding of constants takes a loop's variable that holds a type for the name of one.
  if (OnlyGoHas(difference, "reference to undefined type: ")) return "Go folds types";
  // Go recovers from its own panics while it evaluates.
  if (OnlyGoHas(difference, "internal error: ")) return "Go panics";
  // The results of add and sub are pointers, with which nothing can be compared.
  if (ComparesMadeQuantity(expression) &&
      (difference.go == "no such overload" || difference.member == "value")) {
    return "quantity by pointer";
  }
  // A copy of a quantity that is no integer shares its digits, so that add and sub change both.
  if (difference.member == "value" && ReusesFraction(expression)) return "quantities share digits";
  return {};
}

}  // namespace

std::string_view ExcuseFor(std::string_view expression,
                           const std::vector<Difference>& differences) {
  const bool compiles = std::ranges::none_of(differences, [](const Difference& difference) {
    return difference.member == "issues" || difference.member == "program_error";
  });
  std::string_view excuse;
  for (const Difference& difference : differences) {
    // Types and estimates differ only where Go has none.
    if (compiles && (difference.member == "type" || difference.member == "estimate")) return {};
    // One is enough for value, error and cost: an error of another kind has another cost, too.
    if (excuse.empty()) excuse = ExcuseFor(expression, difference);
  }
  return excuse;
}

}  // namespace cel_test
