#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "cel/syntax/ast.h"
#include "cel/syntax/source.h"

namespace apiserver::inline v0::cel::syntax {

// The macros beside has, all, exists, exists_one, existsOne, map and filter, which every
// environment has. The defaults are those of Kubernetes 1.34 to 1.36.
struct MacroOptions {
  bool optional_types = true;  // optMap, optFlatMap; Kubernetes 1.28.
  bool two_variables = true;   // all(k, v, p) to transformMapEntry(k, v, e); Kubernetes 1.32.
  bool sort_by = true;         // sortBy; Kubernetes 1.34.
  bool bind = false;           // cel.bind; in no Kubernetes up to 1.36.
};

// A call that may be one of a macro.
struct MacroCall {
  std::string_view function;
  NodeId target = kNoNode;  // kNoNode: a free call.
  std::span<const NodeId> arguments;
  std::uint32_t offset = 0;  // The place of the parenthesis; every node of the expansion has it.
};

// More nodes than this are in no tree. cel-go has no such limit, and an expression of a hundred
// characters may fill its memory: optMap doubles what it is called on.
inline constexpr std::size_t kNodesMax = 500'000;

// Expands the call if it is one of a macro. Returns the root of the expansion, the reason why the
// arguments are wrong, or nullopt for an ordinary call. An issue without a place is that there
// would be more than kNodesMax nodes.
std::optional<std::variant<NodeId, Issue>> ExpandMacro(Ast& ast, const MacroOptions& options,
                                                       const MacroCall& call);

}  // namespace apiserver::inline v0::cel::syntax
