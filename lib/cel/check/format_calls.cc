#include "cel/check/format_calls.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/check/solver.h"
#include "cel/functions/format_text.h"

namespace apiserver::inline v0::cel::check {
namespace {

using syntax::Ast;
using syntax::kNoNode;
using syntax::NodeId;
using syntax::NodeKind;

// An issue of one call. Without a node it is about the call.
struct FormatIssue {
  std::string message;
  NodeId node = kNoNode;
};

bool HasKind(const Type& type, std::initializer_list<TypeKind> kinds) {
  const TypeKind kind = Unwrapped(type.node()).kind;
  return kind == TypeKind::kDyn || std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// Tells if %s prints values of the type.
bool IsPrintable(const Type& type) {
  using enum TypeKind;
  return HasKind(type, {kList, kMap, kInt, kUint, kDouble, kBool, kString, kTimestamp, kBytes,
                        kDuration, kType, kNull});
}

// Returns the argument, or the first part of a literal in it, that %s does not print. kNoNode: it
// prints all.
NodeId FindUnprintable(const CheckedAst& checked, NodeId argument) {
  std::vector<NodeId> pending = {argument};
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    if (!IsPrintable(checked.types[id])) return id;
    const NodeKind kind = checked.ast.node(id).kind;
    if (kind != NodeKind::kList && kind != NodeKind::kMap) continue;
    const std::span<const NodeId> parts = checked.ast.children(id);
    pending.insert(pending.end(), parts.rbegin(), parts.rend());
  }
  return kNoNode;
}

// Returns the node whose type a clause does not take. kNoNode: it fits.
NodeId FindMisfit(const CheckedAst& checked, char verb, NodeId argument) {
  using enum TypeKind;
  const Type& type = checked.types[argument];
  bool fits = false;
  switch (verb) {
    case 'd':
    case 'o':
      fits = HasKind(type, {kInt, kUint});
      break;
    case 'f':
    case 'e':
      // The words NaN and Infinity are numbers too.
      fits = HasKind(type, {kDouble, kString});
      break;
    case 'b':
      fits = HasKind(type, {kInt, kUint, kBool});
      break;
    case 'x':
    case 'X':
      fits = HasKind(type, {kInt, kUint, kString, kBytes});
      break;
    default:
      return FindUnprintable(checked, argument);
  }
  return fits ? kNoNode : argument;
}

// Checks the clause that `rest` begins with, behind its percent sign, and moves `rest` behind it.
std::optional<FormatIssue> CheckClause(const CheckedAst& checked, std::string_view& rest,
                                       NodeId argument) {
  std::string error;
  const auto clause = functions::ParseFormatClause(rest, error);
  if (!clause.has_value()) return FormatIssue{error};
  rest.remove_prefix(clause->bytes);
  const NodeId misfit = FindMisfit(checked, clause->verb, argument);
  if (misfit == kNoNode) return std::nullopt;
  const std::string_view type = checked.types[misfit].name();
  return FormatIssue{"error during formatting: " + functions::WrongTypeOfClause(clause->verb, type),
                     misfit};
}

std::optional<FormatIssue> CheckText(const CheckedAst& checked, std::string_view rest,
                                     std::span<const NodeId> arguments) {
  std::size_t next = 0;
  while (true) {
    rest.remove_prefix(std::min(rest.find('%'), rest.size()));
    if (rest.empty()) break;
    rest.remove_prefix(1);
    if (rest.starts_with('%')) {
      rest.remove_prefix(1);
      continue;
    }
    if (rest.empty()) return FormatIssue{"unexpected end of string"};
    if (next >= arguments.size()) {
      return FormatIssue{"index " + std::to_string(next) + " out of range"};
    }
    if (auto issue = CheckClause(checked, rest, arguments[next++]); issue.has_value()) return issue;
  }
  if (arguments.size() <= next) return std::nullopt;
  return FormatIssue{"too many arguments supplied to string.format (expected " +
                     std::to_string(next) + ", got " + std::to_string(arguments.size()) + ")"};
}

}  // namespace

void CheckFormatCall(const CheckedAst& checked, NodeId call, syntax::Issues& issues) {
  const Ast& ast = checked.ast;
  if (!ast.node(call).has_target || ast.name_of(call) != "format") return;
  const NodeId target = ast.target(call);
  const std::span<const NodeId> arguments = ast.arguments(call);
  if (ast.node(target).kind != NodeKind::kConstant || arguments.size() != 1 ||
      ast.node(arguments[0]).kind != NodeKind::kList) {
    return;
  }
  const auto* const text = std::get_if<std::string>(&ast.constant(target));
  if (text == nullptr) return;
  const auto issue = CheckText(checked, *text, ast.children(arguments[0]));
  if (!issue.has_value()) return;
  issues.Add(ast.node(issue->node == kNoNode ? call : issue->node).offset, issue->message);
}

}  // namespace apiserver::inline v0::cel::check
