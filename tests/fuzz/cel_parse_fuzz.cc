#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cel/syntax/parser.h"
#include "cel/syntax/unparse.h"
#include "cel/tree_text.h"
#include "require.h"

// Any bytes are an expression or have issues that can be displayed. What is parsed can be written
// as an expression that parses to the same tree.
namespace {

namespace syntax = apiserver::cel::syntax;
using apiserver_fuzz::Require;

constexpr std::size_t kComparedNodesMax = 20'000;

// Whether nothing but the parentheses that were added is wrong.
bool IsLimit(const syntax::Issues& issues) {
  return issues.count() == 1 && issues.all()[0].offset == syntax::kNoOffset;
}

void TryOptions(const syntax::SourceText& source, const syntax::ParseOptions& options) {
  syntax::Issues issues;
  const syntax::Ast ast = syntax::Parse(source, options, issues);
  Require(issues.empty() == (ast.root() != syntax::kNoNode));
  if (!issues.empty()) {
    Require(issues.Display(source).starts_with("ERROR: <input>:"));
    return;
  }
  // Macros make trees that take seconds to write and to compare.
  if (ast.size() > kComparedNodesMax) return;
  const syntax::SourceText written(syntax::Unparse(ast));
  syntax::Issues none;
  const syntax::Ast again = syntax::Parse(written, options, none);
  if (IsLimit(none)) return;
  Require(none.empty());
  using apiserver::testing::TreeText;
  Require(TreeText(again, false).Write() == TreeText(ast, false).Write());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const syntax::SourceText source(std::string_view(reinterpret_cast<const char*>(data), size));
  TryOptions(source, {});
  TryOptions(source, {.quoted_fields = true, .macros = {.bind = true}});
  TryOptions(source, {.optional_syntax = false, .macros = {false, false, false, false}});
  return 0;
}
