#include "cel/estimate/cost.h"

#include <utility>

#include "cel/estimate/estimator.h"
#include "cel/run/size.h"

namespace apiserver::v0::cel::estimate {
namespace {

constexpr SizeRange kSizeOne = {1, 1};
// The size that a union begins with.
constexpr SizeRange kNoSize = {kUnbounded, 0};

bool IsScalar(const Type& type) {
  switch (KindOf(type)) {
    case TypeKind::kBool:
    case TypeKind::kInt:
    case TypeKind::kUint:
    case TypeKind::kDouble:
    case TypeKind::kTimestamp:
    case TypeKind::kDuration:
      return true;
    default:
      return type.is_optional() && IsScalar(type.parameter(0));
  }
}

// Returns the size of a literal. nullopt: the node is none.
MaybeSize SizeOfLiteral(const Ast& ast, NodeId id) {
  const Node& node = ast.node(id);
  if (node.kind == NodeKind::kList || node.kind == NodeKind::kMap) {
    const std::uint64_t count = ast.entry_count(id);
    return SizeRange{count, count};
  }
  if (node.kind != NodeKind::kConstant) return std::nullopt;
  std::uint64_t size = 1;
  if (const auto* const text = std::get_if<std::string>(&ast.constant(id))) {
    size = CodePoints(*text);
  } else if (const auto* const bytes = std::get_if<syntax::Bytes>(&ast.constant(id))) {
    size = bytes->value.size();
  }
  return SizeRange{size, size};
}

}  // namespace

CostRange Estimator::Run() {
  std::vector<Frame> stack = {{ast_.root(), 0}};
  while (!stack.empty()) {
    Frame& frame = stack.back();
    const NodeId child = NextChild(frame);
    if (child != kNoNode) {
      stack.push_back({child, 0});
    } else {
      costs_[frame.node] = CostOfNode(frame.node);
      stack.pop_back();
    }
  }
  return costs_[ast_.root()];
}

NodeId Estimator::NextChild(Frame& frame) {
  const NodeId id = frame.node;
  switch (ast_.node(id).kind) {
    case NodeKind::kCall:
      return NextOfCall(frame);
    case NodeKind::kComprehension:
      return NextOfLoop(frame);
    default:
      break;
  }
  const std::span<const NodeId> children = ast_.children(id);
  const NodeKind kind = ast_.node(id).kind;
  // Sizes of elements are taken when each, of entries when key and value have been estimated.
  if (kind == NodeKind::kList && frame.done > 0) Remember(children[frame.done - 1]);
  if (kind == NodeKind::kMap && frame.done > 0 && frame.done % 2 == 0) {
    Remember(children[frame.done - 2]);
    Remember(children[frame.done - 1]);
  }
  return frame.done < children.size() ? children[frame.done++] : kNoNode;
}

// The arguments in their order, then the target.
NodeId Estimator::NextOfCall(Frame& frame) {
  const std::span<const NodeId> arguments = ast_.arguments(frame.node);
  const NodeId target = ast_.target(frame.node);
  const std::size_t done = frame.done++;
  if (done > 0) Remember(done <= arguments.size() ? arguments[done - 1] : target);
  if (done < arguments.size()) return arguments[done];
  return done == arguments.size() ? target : kNoNode;
}

CostRange Estimator::CostOfNode(NodeId id) {
  switch (ast_.node(id).kind) {
    case NodeKind::kIdentifier:
      return CostOfIdentifier(id);
    case NodeKind::kSelect:
      return CostOfSelect(id);
    case NodeKind::kCall:
      return CostOfCall(id);
    case NodeKind::kList:
    case NodeKind::kMap:
      return CostOfContainer(id);
    case NodeKind::kMessage:
      return SumOfChildren(id) + CostRange{kMessageCost, kMessageCost};
    case NodeKind::kComprehension:
      return CostOfLoop(id);
    default:
      return {};
  }
}

CostRange Estimator::CostOfIdentifier(NodeId id) {
  const Local* const local = FindLocal(id);
  paths_[id] = local != nullptr ? local->path : Path(ast_.name_of(id));
  return kOne;
}

CostRange Estimator::CostOfSelect(NodeId id) {
  const NodeId operand = ast_.children(id)[0];
  const CostRange cost = costs_[operand];
  if (ast_.node(id).test_only) {
    return cost + CostRange{presence_test_cost_, presence_test_cost_};
  }
  paths_[id] = PathOf(operand).Append(ast_.name_of(id));
  switch (KindOf(checked_.types[operand])) {
    case TypeKind::kMap:
    case TypeKind::kStruct:
    case TypeKind::kParameter:
      return cost + kOne;
    default:
      return cost;  // A selection on dyn costs only at run time.
  }
}

CostRange Estimator::CostOfContainer(NodeId id) {
  const std::span<const NodeId> children = ast_.children(id);
  const bool is_list = ast_.node(id).kind == NodeKind::kList;
  EntrySizes sizes = {is_list, is_list ? kSizeOne : kNoSize, kNoSize};
  if (children.empty()) {
    sizes.value.min = 0;
    if (!is_list) sizes.key.min = 0;
  }
  for (std::size_t i = 0; i < children.size(); ++i) {
    SizeRange& size = !is_list && i % 2 == 0 ? sizes.key : sizes.value;
    size = Union(size, ArgumentSize(children[i]));
  }
  entries_[id] = sizes;
  const std::uint64_t base = is_list ? kListCost : kMapCost;
  return SumOfChildren(id) + CostRange{base, base};
}

const Local* Estimator::FindLocal(NodeId id) const {
  if (ast_.node(id).kind != NodeKind::kIdentifier) return nullptr;
  const auto found = locals_.find(ast_.node(id).name);
  return found == locals_.end() || found->second.empty() ? nullptr : &found->second.back();
}

Path Estimator::PathOf(NodeId id) const {
  const Local* const local = FindLocal(id);
  return local != nullptr ? local->path : paths_[id];
}

// The size of a node's value: computed, a literal's, declared, of a scalar, or of a local variable.
MaybeSize Estimator::SizeOf(NodeId id) {
  if (sizes_[id]) return sizes_[id];
  if (const MaybeSize size = SizeOfLiteral(ast_, id)) return size;
  if (const MaybeSize size = DeclaredSize(PathOf(id), checked_.types[id])) {
    sizes_[id] = size;
    return size;
  }
  if (IsScalar(checked_.types[id])) return kSizeOne;
  const Local* const local = FindLocal(id);
  return local != nullptr ? local->size : std::nullopt;
}

MaybeEntries Estimator::EntriesOf(NodeId id) const {
  if (entries_[id]) return entries_[id];
  const Local* const local = FindLocal(id);
  return local != nullptr ? local->entries : std::nullopt;
}

CostRange EstimateCost(const CheckedAst& checked) {
  DeclaredSizes declared(checked.environment);
  return EstimateCost(checked, declared);
}

CostRange EstimateCost(const CheckedAst& checked, Sizes& sizes) {
  return Estimator(checked, sizes).Run();
}

}  // namespace apiserver::v0::cel::estimate
