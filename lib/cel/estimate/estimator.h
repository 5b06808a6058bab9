#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cel/check/checked.h"
#include "cel/declare/range.h"
#include "cel/estimate/sizes.h"

// The walk that estimates: its state, and what it does at each kind of node. cost.cc has the walk
// and the plain nodes, calls.cc the calls, loops.cc the loops.
namespace apiserver::inline v0::cel::estimate {

using check::CheckedAst;
using syntax::Ast;
using syntax::Comprehension;
using syntax::kNoName;
using syntax::kNoNode;
using syntax::NameId;
using syntax::Node;
using syntax::NodeId;
using syntax::NodeKind;

inline constexpr CostRange kOne = {1, 1};

// The sizes of a container's keys (indexes count 1) and values, as literals and loops tell them.
struct EntrySizes {
  bool is_list = false;
  SizeRange key;
  SizeRange value;
};
using MaybeSize = std::optional<SizeRange>;
using MaybeEntries = std::optional<EntrySizes>;

// A variable of a loop.
struct Local {
  Path path;
  MaybeSize size;
  MaybeEntries entries;
};

// An argument as it was known when its cost had been estimated.
struct Argument {
  Path path;
  MaybeSize size;
};

// The kind that cel-go gives a type: a wrapper has that of its scalar.
inline TypeKind KindOf(const Type& type) {
  return type.kind() == TypeKind::kWrapper ? type.parameter(0).kind() : type.kind();
}

// The structure of operators that estimates follow beyond their cost.
enum class Operator : std::uint8_t {
  kNone,
  kLogical,
  kConditional,
  kAddList,
  kAddText,
  kCompare,
  kIndexList,
  kIndexMap,
};

// Walks the tree with a stack of its own: each frame is a node and the number of children that have
// been estimated.
class Estimator {
 public:
  Estimator(const CheckedAst& checked, Sizes& declared)
      : checked_(checked),
        ast_(checked.ast),
        declared_(declared),
        presence_test_cost_(checked.environment.state().features.presence_test_costs ? 1 : 0),
        costs_(ast_.size()),
        paths_(ast_.size()),
        sizes_(ast_.size()),
        entries_(ast_.size()),
        arguments_(ast_.size()) {}

  // Returns the range of the whole expression's cost.
  CostRange Run();

 private:
  friend class Call;
  struct Frame {
    NodeId node;
    std::uint32_t done;
  };

  NodeId NextChild(Frame& frame);
  NodeId NextOfCall(Frame& frame);
  NodeId NextOfLoop(Frame& frame);
  NodeId NextOfBind(Frame& frame, const Comprehension& loop);
  CostRange CostOfNode(NodeId id);
  CostRange CostOfIdentifier(NodeId id);
  CostRange CostOfSelect(NodeId id);
  CostRange CostOfContainer(NodeId id);
  CostRange CostOfCall(NodeId id);
  CostRange CostOfLoop(NodeId id);
  CallEstimate EstimateOverload(NodeId id, const Overload* overload);
  CallEstimate EstimateOperator(NodeId id, Operator which);
  CostRange CostOfComparison(NodeId id) const;
  std::optional<CostRange> CostOfEqualLibraryValues(NodeId id) const;

  CostRange SumOfChildren(NodeId id) const {
    CostRange sum;
    for (const NodeId child : ast_.children(id)) sum = sum + costs_[child];
    return sum;
  }
  bool IsBind(const Comprehension& loop) const;
  void PushLoopVariables(const Comprehension& loop);
  void PopLoopVariables(const Comprehension& loop);
  void PushElement(NameId variable, NodeId range, bool as_value);
  void PushLocal(NameId variable, NodeId value);
  void Pop(NameId variable) { locals_[variable].pop_back(); }
  const Local* FindLocal(NodeId id) const;

  void Remember(NodeId argument) { arguments_[argument] = {PathOf(argument), SizeOf(argument)}; }
  Path PathOf(NodeId id) const;
  MaybeSize SizeOf(NodeId id);
  SizeRange SizeOrUnknown(NodeId id) { return SizeOf(id).value_or(SizeRange{}); }
  SizeRange ArgumentSize(NodeId id) const { return arguments_[id].size.value_or(SizeRange{}); }
  MaybeEntries EntriesOf(NodeId id) const;
  MaybeSize DeclaredSize(const Path& path, const Type& type) {
    const std::optional<std::uint64_t> size = declared_.MaxSize(path, type);
    return size ? MaybeSize({0, *size}) : std::nullopt;
  }

  const CheckedAst& checked_;
  const Ast& ast_;
  Sizes& declared_;
  std::uint64_t presence_test_cost_;
  std::vector<CostRange> costs_;
  std::vector<Path> paths_;
  std::vector<MaybeSize> sizes_;  // Computed ones.
  std::vector<MaybeEntries> entries_;
  std::vector<Argument> arguments_;
  std::unordered_map<NameId, std::vector<Local>> locals_;
};

}  // namespace apiserver::inline v0::cel::estimate
