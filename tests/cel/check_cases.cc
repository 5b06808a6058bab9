#include "cel/check_cases.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <utility>

#include "cel/check/checker.h"
#include "cel/syntax/parser.h"
#include "cel/syntax/source.h"

namespace cel_test {

namespace check = apiserver::cel::check;
namespace syntax = apiserver::cel::syntax;
using apiserver::cel::Environment;
using apiserver::cel::Mode;

Environment Base(int minor) {
  return Environment::Kubernetes({1, minor}, minor == 36 ? Mode::kStored : Mode::kNew);
}

std::string TypeOf(const Environment& environment, std::string_view text) {
  const syntax::SourceText source(text);
  syntax::Issues found;
  syntax::Ast ast = syntax::Parse(source, {}, found);
  std::optional<check::CheckedAst> checked;
  if (found.empty()) checked = check::Check(environment, std::move(ast), found);
  if (checked.has_value()) return checked->result_type.ToString();
  const std::string issues = found.Display(source);
  std::string short_form;
  std::string_view rest = issues;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    constexpr std::string_view kPrefix = "ERROR: <input>:1:";
    if (!line.starts_with(kPrefix)) continue;
    if (!short_form.empty()) short_form += "; ";
    short_form += line.substr(kPrefix.size());
  }
  return short_form;
}

void CheckAll(const Environment& environment, const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    INFO(each.text);
    CHECK(TypeOf(environment, each.text) == each.expected);
  }
}

}  // namespace cel_test
