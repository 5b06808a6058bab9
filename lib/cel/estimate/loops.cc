#include <utility>

#include "cel/estimate/estimator.h"

// The cost of loops, and what is known of their variables.
namespace apiserver::v0::cel::estimate {

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

}  // namespace apiserver::v0::cel::estimate
