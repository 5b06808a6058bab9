#pragma once

#include <cstdint>
#include <vector>

#include "apiserver/base/status.h"
#include "cel/check/checked.h"
#include "cel/run/program_state.h"

// Constant folding, of which the costs see a part: interpreter/decorators.go of cel-go.
namespace apiserver::inline v0::cel::plan {

inline constexpr std::uint32_t kNoConstant = 0xFFFF'FFFF;

// The nodes that are constants: literals, names of types, lists and maps of constants, conversions
// of constants, and "x in []".
struct Constants {
  // The number of the constant in ProgramState::constants by node; kNoConstant for the others.
  std::vector<std::uint32_t> of_node;
  std::vector<bool> reachable;  // From the root.
  // The error of the first node that cannot be folded, and its id. Nodes behind it are not folded.
  Status failure = {};
  syntax::NodeId failed = syntax::kNoNode;

  bool Is(syntax::NodeId id) const { return of_node[id] != kNoConstant; }
};

// Finds and folds the constants of a tree, and adds them to the program. Equal scalars share a
// constant.
Result<Constants> Fold(const check::CheckedAst& checked, ProgramState& program);

// Makes the keys that "x in LIST" looks up. False: the list has elements other than scalars, it
// must be searched.
bool MakeSet(const Value& list, MapContent& set, Arena& arena);

}  // namespace apiserver::inline v0::cel::plan
