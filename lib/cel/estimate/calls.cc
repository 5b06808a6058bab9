#include <algorithm>

#include "cel/estimate/estimator.h"
#include "cel/run/size.h"

// The cost of calls: functions by their rows, operators by themselves.
namespace apiserver::v0::cel::estimate {
namespace {

// The cost that a union begins with.
constexpr CostRange kNoCost = {kUnbounded, 0};

MaybeEntries UnionOf(const MaybeEntries& a, const MaybeEntries& b) {
  if (!a || !b) return std::nullopt;
  return EntrySizes{a->is_list, Union(a->key, b->key), Union(a->value, b->value)};
}

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

}  // namespace

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

}  // namespace apiserver::v0::cel::estimate
