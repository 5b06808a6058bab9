#include "cel/estimate/cost.h"

#include <unordered_map>
#include <utility>

#include "cel/estimate/sizes.h"
#include "cel/run/size.h"

namespace apiserver::inline v0::cel::estimate {
namespace {

using check::CheckedAst;
using syntax::Ast;
using syntax::Comprehension;
using syntax::kNoName;
using syntax::kNoNode;
using syntax::NameId;
using syntax::Node;
using syntax::NodeId;
using syntax::NodeKind;

constexpr CostRange kOne = {1, 1};
constexpr SizeRange kSizeOne = {1, 1};
// What a union of ranges begins with.
constexpr CostRange kNoCost = {kUnbounded, 0};
constexpr SizeRange kNoSize = {kUnbounded, 0};

// The sizes of a container's keys (indexes count 1) and values, as literals and loops tell them.
struct EntrySizes {
  bool is_list = false;
  SizeRange key;
  SizeRange value;
};
using MaybeSize = std::optional<SizeRange>;
using MaybeEntries = std::optional<EntrySizes>;

MaybeEntries UnionOf(const MaybeEntries& a, const MaybeEntries& b) {
  if (!a || !b) return std::nullopt;
  return EntrySizes{a->is_list, Union(a->key, b->key), Union(a->value, b->value)};
}

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
TypeKind KindOf(const Type& type) {
  return type.kind() == TypeKind::kWrapper ? type.parameter(0).kind() : type.kind();
}

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

Operator OperatorOf(std::string_view function, const Overload* overload) {
  if (function == "_&&_" || function == "_||_") return Operator::kLogical;
  if (function == "_?_:_") return Operator::kConditional;
  if (function == "_==_" || function == "_!=_") return Operator::kCompare;
  if (overload == nullptr) return Operator::kNone;
  const std::string_view id = overload->id;
  if (id == "add_list") return Operator::kAddList;
  if (id == "add_string" || id == "add_bytes") return Operator::kAddText;
  if (id == "index_list") return Operator::kIndexList;
  if (id == "index_map") return Operator::kIndexMap;
  for (const std::string_view order : {"less", "less_equals", "greater", "greater_equals"}) {
    if (!id.starts_with(order)) continue;
    const std::string_view operands = id.substr(order.size());
    if (operands == "_string" || operands == "_bytes") return Operator::kCompare;
  }
  return Operator::kNone;
}

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

  CostRange Run() {
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

// A call as a function's estimate sees it.
class Call final : public EstimateCall {
 public:
  // `asks_schemas`: sizes that were not computed are looked up again, as Kubernetes' estimates do.
  Call(Estimator& estimator, NodeId id, const Overload& overload, bool asks_schemas)
      : estimator_(estimator), id_(id), overload_(overload), asks_schemas_(asks_schemas) {}

  std::size_t argument_count() const override { return estimator_.ast_.children(id_).size(); }
  const Overload& overload() const override { return overload_; }
  SizeRange Size(std::size_t argument) const override {
    const Argument& known = estimator_.arguments_[Child(argument)];
    if (known.size) return *known.size;
    if (!asks_schemas_) return {};
    return estimator_.DeclaredSize(known.path, TypeOf(argument)).value_or(SizeRange{});
  }
  std::optional<SizeRange> ElementSize(std::size_t argument) const override {
    const std::optional<Type> type = ElementType(argument);
    if (!type) return std::nullopt;
    const Path& path = estimator_.arguments_[Child(argument)].path;
    const Path item = path.empty() ? Path() : path.AppendToCopy("@items");
    return estimator_.DeclaredSize(item, *type).value_or(SizeRange{});
  }
  Type TypeOf(std::size_t argument) const override {
    return estimator_.checked_.types[Child(argument)];
  }
  std::optional<Type> ElementType(std::size_t argument) const override {
    const Type& type = estimator_.checked_.types[Child(argument)];
    if (type.parameter_count() == 0) return std::nullopt;
    return type.parameter(0);
  }
  std::optional<std::int64_t> IntLiteral(std::size_t argument) const override {
    const Ast& ast = estimator_.ast_;
    if (ast.node(Child(argument)).kind != NodeKind::kConstant) return std::nullopt;
    const auto* const value = std::get_if<std::int64_t>(&ast.constant(Child(argument)));
    return value == nullptr ? std::nullopt : std::optional(*value);
  }

 private:
  NodeId Child(std::size_t argument) const { return estimator_.ast_.children(id_)[argument]; }

  Estimator& estimator_;
  NodeId id_;
  const Overload& overload_;
  bool asks_schemas_;
};

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

NodeId Estimator::NextOfLoop(Frame& frame) {
  const Comprehension loop = ast_.comprehension(frame.node);
  if (IsBind(loop)) return NextOfBind(frame, loop);
  switch (frame.done++) {
    case 0:
      return loop.range;
    case 1:
      return loop.init;
    case 2:
      PushLocal(loop.accumulator, loop.init);
      PushLoopVariables(loop);
      return loop.condition;
    case 3:
      return loop.step;
    case 4:
      PopLoopVariables(loop);
      return loop.result;
    default:
      Pop(loop.accumulator);
      return kNoNode;
  }
}

NodeId Estimator::NextOfBind(Frame& frame, const Comprehension& loop) {
  switch (frame.done++) {
    case 0:
      return loop.range;
    case 1:
      return loop.init;
    case 2:
      PushLocal(loop.accumulator, loop.init);
      return loop.result;
    default:
      Pop(loop.accumulator);
      return kNoNode;
  }
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

CostRange Estimator::CostOfCall(NodeId id) {
  const std::string_view function = ast_.name_of(id);
  const NodeId target = ast_.target(id);
  if (function == "dyn") {
    const NodeId argument = ast_.children(id)[0];
    sizes_[id] = SizeOf(argument);
    entries_[id] = EntriesOf(argument);
    return costs_[argument] + kOne;
  }
  // Operators that the function table does not hold have no overload.
  std::vector<const Overload*> overloads = {nullptr};
  const std::span<const Overload* const> matches = checked_.MatchesOf(id);
  if (!matches.empty()) overloads.assign(matches.begin(), matches.end());
  CostRange cost = kNoCost;
  MaybeSize result;
  for (const Overload* const overload : overloads) {
    const CallEstimate estimate = EstimateOverload(id, overload);
    cost = Union(cost, estimate.cost);
    if (estimate.result_size) {
      result = result ? Union(*result, *estimate.result_size) : *estimate.result_size;
    }
    const Operator which = OperatorOf(function, overload);
    if (which == Operator::kIndexList || which == Operator::kIndexMap) {
      const NodeId container = ast_.children(id)[0];
      const MaybeEntries entries = EntriesOf(container);
      result = entries ? MaybeSize(entries->value) : std::nullopt;
      paths_[id] = PathOf(container).Append(which == Operator::kIndexList ? "@items" : "@values");
    }
    if (!result) result = SizeOf(id);
  }
  if (result) sizes_[id] = result;
  return target == kNoNode ? cost : cost + costs_[target];
}

// The cost of one overload with its arguments, without the target.
CallEstimate Estimator::EstimateOverload(NodeId id, const Overload* overload) {
  CostRange arguments;
  for (const NodeId argument : ast_.arguments(id)) arguments = arguments + costs_[argument];
  const Operator which = OperatorOf(ast_.name_of(id), overload);
  if (which == Operator::kAddList || which == Operator::kAddText) {
    const MaybeEntries entries =
        UnionOf(EntriesOf(ast_.children(id)[0]), EntriesOf(ast_.children(id)[1]));
    if (entries) entries_[id] = entries;
  }
  // Kubernetes' own cost of a function is asked before cel-go's of an overload.
  if (const std::optional<CostRange> fixed = CostOfEqualLibraryValues(id)) {
    return {*fixed + arguments};
  }
  const FunctionEntry* const function = checked_.calls[id].function;
  if (overload != nullptr && function != nullptr) {
    for (const Function* const row : function->rows) {
      if (row->estimate == nullptr) continue;
      const auto estimate = row->estimate(Call(*this, id, *overload, true));
      if (estimate) return {estimate->cost + arguments, estimate->result_size};
    }
    if (overload->estimate != nullptr) {
      const auto estimate = overload->estimate(Call(*this, id, *overload, false));
      if (estimate) return {estimate->cost + arguments, estimate->result_size};
    }
  }
  if (which == Operator::kLogical || which == Operator::kConditional) {
    return EstimateOperator(id, which);
  }
  const CallEstimate estimate = EstimateOperator(id, which);
  return {estimate.cost + arguments, estimate.result_size};
}

// Operators whose cost is no function of sizes alone; all others cost 1.
CallEstimate Estimator::EstimateOperator(NodeId id, Operator which) {
  const std::span<const NodeId> children = ast_.children(id);
  switch (which) {
    case Operator::kLogical: {
      const CostRange left = costs_[children[0]];
      return {{left.min, SaturatingAdd(left.max, costs_[children[1]].max)}};
    }
    case Operator::kConditional: {
      const MaybeEntries entries = UnionOf(EntriesOf(children[1]), EntriesOf(children[2]));
      if (entries) entries_[id] = entries;
      return {costs_[children[0]] + Union(costs_[children[1]], costs_[children[2]]),
              Union(ArgumentSize(children[1]), ArgumentSize(children[2]))};
    }
    case Operator::kAddList:
    case Operator::kAddText: {
      const SizeRange size = ArgumentSize(children[0]) + ArgumentSize(children[1]);
      return {which == Operator::kAddList ? kOne : CostOf(size, kStringTraversal), size};
    }
    case Operator::kCompare:
      return {CostOfComparison(id)};
    default:
      return {kOne};
  }
}

CostRange Estimator::CostOfComparison(NodeId id) const {
  const std::span<const NodeId> children = ast_.children(id);
  const std::uint64_t max = std::min(ArgumentSize(children[0]).max, ArgumentSize(children[1]).max);
  return CostOf(SizeRange{max > 0 ? std::uint64_t{1} : 0, max}, kStringTraversal);
}

// The cost of == on two values of one of Kubernetes' own types: library/cost.go. != has none.
std::optional<CostRange> Estimator::CostOfEqualLibraryValues(NodeId id) const {
  constexpr std::uint64_t kLongestFormatName = 64;
  const std::span<const NodeId> children = ast_.children(id);
  if (ast_.name_of(id) != "_==_" || children.size() != 2) return std::nullopt;
  const Type& type = checked_.types[children[0]];
  if (type != checked_.types[children[1]]) return std::nullopt;
  const std::string_view name = type.name();
  if (name == "net.IP" || name == "net.CIDR" || name == "kubernetes.Quantity" ||
      name == "kubernetes.Semver" || name.starts_with("kubernetes.authorization.")) {
    return kOne;
  }
  if (name == "kubernetes.NamedFormat") {
    return CostOf(SizeRange{1, kLongestFormatName}, kStringTraversal);
  }
  if (name == "kubernetes.URL") {
    const MaybeSize& size = arguments_[children[1]].size;  // Upstream reads the right one twice.
    return CostOf(SizeRange{1, size ? size->max : 1}, kStringTraversal);
  }
  return std::nullopt;
}

CostRange Estimator::CostOfLoop(NodeId id) {
  const Comprehension loop = ast_.comprehension(id);
  CostRange sum = costs_[loop.range] + costs_[loop.init] + costs_[loop.result];
  if (IsBind(loop)) {
    if (const MaybeSize size = SizeOf(loop.result)) sizes_[id] = size;
    if (const MaybeEntries entries = EntriesOf(loop.result)) entries_[id] = entries;
    return sum;
  }
  const SizeRange count = SizeOrUnknown(loop.range);
  sum = sum + CostOf(count, costs_[loop.condition] + costs_[loop.step]);
  switch (ast_.node(loop.init).kind) {
    case NodeKind::kConstant:
      sizes_[id] = SizeOf(loop.init);
      break;
    case NodeKind::kList:
    case NodeKind::kMap:
      sizes_[id] = count;
      if (const MaybeEntries entries = EntriesOf(loop.step)) entries_[id] = entries;
      break;
    default:
      break;
  }
  return sum;
}

// A loop over nothing that only names a value, as bind and optMap make it.
bool Estimator::IsBind(const Comprehension& loop) const {
  if (ast_.node(loop.range).kind != NodeKind::kList || ast_.entry_count(loop.range) != 0) {
    return false;
  }
  if (ast_.node(loop.condition).kind != NodeKind::kConstant) return false;
  const auto* const condition = std::get_if<bool>(&ast_.constant(loop.condition));
  return condition != nullptr && !*condition;
}

void Estimator::PushLoopVariables(const Comprehension& loop) {
  const MaybeEntries entries = EntriesOf(loop.range);
  const bool is_list =
      entries ? entries->is_list : KindOf(checked_.types[loop.range]) == TypeKind::kList;
  if (loop.second_variable == kNoName) {
    PushElement(loop.variable, loop.range, is_list);
    return;
  }
  PushElement(loop.variable, loop.range, false);
  PushElement(loop.second_variable, loop.range, true);
}

void Estimator::PopLoopVariables(const Comprehension& loop) {
  Pop(loop.variable);
  if (loop.second_variable != kNoName) Pop(loop.second_variable);
}

// `as_value`: the variable is an item or the value of an entry, else an index or a key.
void Estimator::PushElement(NameId variable, NodeId range, bool as_value) {
  const MaybeEntries entries = EntriesOf(range);
  const bool is_list =
      entries ? entries->is_list : KindOf(checked_.types[range]) == TypeKind::kList;
  Local local;
  if (entries) local.size = as_value ? entries->value : entries->key;
  const std::string_view key = is_list ? "@indices" : "@keys";
  local.path = PathOf(range).Append(!as_value ? key : is_list ? "@items" : "@values");
  locals_[variable].push_back(std::move(local));
}

void Estimator::PushLocal(NameId variable, NodeId value) {
  Local local = {PathOf(value), SizeOf(value), EntriesOf(value)};
  locals_[variable].push_back(std::move(local));
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

}  // namespace

CostRange EstimateCost(const CheckedAst& checked) {
  DeclaredSizes declared(checked.environment);
  return EstimateCost(checked, declared);
}

CostRange EstimateCost(const CheckedAst& checked, Sizes& sizes) {
  return Estimator(checked, sizes).Run();
}

}  // namespace apiserver::inline v0::cel::estimate
