#include "cel/syntax/ast.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace apiserver::v0::cel::syntax {
namespace {

// The extra of a list without entries: no element is optional.
constexpr std::uint32_t kNoEntries = 0xFFFF'FFFF;

}  // namespace

std::span<const NodeId> Ast::children(NodeId id) const {
  const Node& node = nodes_[id];
  return std::span(children_).subspan(node.first, node.count);
}

NodeId Ast::target(NodeId call) const {
  return nodes_[call].has_target ? children_[nodes_[call].first] : kNoNode;
}

std::span<const NodeId> Ast::arguments(NodeId call) const {
  return children(call).subspan(nodes_[call].has_target ? 1 : 0);
}

Comprehension Ast::comprehension(NodeId id) const {
  const Node& node = nodes_[id];
  const NodeId* part = &children_[node.first];
  const LoopNames& names = loops_[node.extra];
  return {.variable = node.name,
          .second_variable = names.second_variable,
          .accumulator = names.accumulator,
          .range = part[0],
          .init = part[1],
          .condition = part[2],
          .step = part[3],
          .result = part[4]};
}

Entry Ast::entry(NodeId id, std::size_t index) const {
  const Node& node = nodes_[id];
  return node.extra == kNoEntries ? Entry{} : entries_[node.extra + index];
}

std::size_t Ast::entry_count(NodeId id) const {
  const Node& node = nodes_[id];
  return node.kind == NodeKind::kMap ? node.count / 2 : node.count;
}

std::string_view Ast::name(NameId id) const {
  return id == kNoName ? std::string_view() : names_[id];
}

NameId Ast::FindName(std::string_view name) const {
  const auto found = name_ids_.find(name);
  return found == name_ids_.end() ? kNoName : found->second;
}

std::vector<NodeId> Ast::Reachable(NodeId id) const {
  std::vector<NodeId> found = {id};
  for (std::size_t next = 0; next < found.size(); ++next) {
    const std::span<const NodeId> below = children(found[next]);
    found.insert(found.end(), below.begin(), below.end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

NodeId Ast::macro_call(NodeId id) const {
  const auto found = macro_calls_.find(id);
  return found == macro_calls_.end() ? kNoNode : found->second;
}

NameId Ast::AddName(std::string_view name) {
  if (const NameId found = FindName(name); found != kNoName) return found;
  const auto id = static_cast<NameId>(names_.size());
  names_.push_back(name_ids_.emplace(name, id).first->first);
  return id;
}

NodeId Ast::Add(Node node, std::span<const NodeId> children) {
  node.first = static_cast<std::uint32_t>(children_.size());
  node.count = static_cast<std::uint32_t>(children.size());
  children_.insert(children_.end(), children.begin(), children.end());
  nodes_.push_back(node);
  return static_cast<NodeId>(nodes_.size() - 1);
}

void Ast::AddEntries(Node& node, std::span<const Entry> entries) {
  node.extra = static_cast<std::uint32_t>(entries_.size());
  entries_.insert(entries_.end(), entries.begin(), entries.end());
}

NodeId Ast::AddUnspecified(std::uint32_t offset) { return Add({.offset = offset}, {}); }

NodeId Ast::AddConstant(std::uint32_t offset, Constant value) {
  constants_.push_back(std::move(value));
  return Add({.kind = NodeKind::kConstant,
              .offset = offset,
              .extra = static_cast<std::uint32_t>(constants_.size() - 1)},
             {});
}

NodeId Ast::AddIdentifier(std::uint32_t offset, std::string_view name) {
  return Add({.kind = NodeKind::kIdentifier, .offset = offset, .name = AddName(name)}, {});
}

NodeId Ast::AddSelect(std::uint32_t offset, NodeId operand, std::string_view field) {
  return Add({.kind = NodeKind::kSelect, .offset = offset, .name = AddName(field)},
             std::array{operand});
}

NodeId Ast::AddPresenceTest(std::uint32_t offset, NodeId operand, std::string_view field) {
  return Add(
      {.kind = NodeKind::kSelect, .test_only = true, .offset = offset, .name = AddName(field)},
      std::array{operand});
}

NodeId Ast::AddCall(std::uint32_t offset, std::string_view function,
                    std::span<const NodeId> arguments) {
  return Add({.kind = NodeKind::kCall, .offset = offset, .name = AddName(function)}, arguments);
}

NodeId Ast::AddMemberCall(std::uint32_t offset, std::string_view function, NodeId target,
                          std::span<const NodeId> arguments) {
  std::vector<NodeId> all = {target};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return Add(
      {.kind = NodeKind::kCall, .has_target = true, .offset = offset, .name = AddName(function)},
      all);
}

NodeId Ast::AddList(std::uint32_t offset, std::span<const NodeId> elements,
                    std::span<const Entry> entries) {
  Node node = {.kind = NodeKind::kList, .offset = offset, .extra = kNoEntries};
  if (!entries.empty()) AddEntries(node, entries);
  return Add(node, elements);
}

NodeId Ast::AddMap(std::uint32_t offset, std::span<const NodeId> children,
                   std::span<const Entry> entries) {
  Node node = {.kind = NodeKind::kMap, .offset = offset};
  AddEntries(node, entries);
  return Add(node, children);
}

NodeId Ast::AddMessage(std::uint32_t offset, std::string_view type, std::span<const NodeId> values,
                       std::span<const Entry> entries) {
  Node node = {.kind = NodeKind::kMessage, .offset = offset, .name = AddName(type)};
  AddEntries(node, entries);
  return Add(node, values);
}

NodeId Ast::AddComprehension(std::uint32_t offset, const Comprehension& loop) {
  loops_.push_back({loop.second_variable, loop.accumulator});
  return Add({.kind = NodeKind::kComprehension,
              .offset = offset,
              .name = loop.variable,
              .extra = static_cast<std::uint32_t>(loops_.size() - 1)},
             std::array{loop.range, loop.init, loop.condition, loop.step, loop.result});
}

NodeId Ast::AddCopy(NodeId id, std::uint32_t entry_offset) {
  // Copies in the order of the numbers, so that children are there before their parents. Loops and
  // constants do not change and are shared.
  const std::vector<NodeId> originals = Reachable(id);
  std::vector<NodeId> copies;
  copies.reserve(originals.size());
  const auto copy_of = [&](NodeId original) {
    const auto at = std::lower_bound(originals.begin(), originals.end(), original);
    return copies[static_cast<std::size_t>(at - originals.begin())];
  };
  for (const NodeId original : originals) {
    std::vector<NodeId> below;
    for (const NodeId child : children(original)) below.push_back(copy_of(child));
    Node node = nodes_[original];
    if (node.kind == NodeKind::kMap || node.kind == NodeKind::kMessage) {
      std::vector<Entry> entries;
      for (std::size_t i = 0; i < entry_count(original); ++i) entries.push_back(entry(original, i));
      for (Entry& copied : entries) copied.offset = entry_offset;
      AddEntries(node, entries);
    }
    copies.push_back(Add(node, below));
    const NodeId call = macro_call(original);
    if (call != kNoNode) SetMacroCall(copies.back(), call);
  }
  return copies.back();
}

void Ast::SetMacroCall(NodeId expansion, NodeId call) { macro_calls_[expansion] = call; }

void Ast::RewriteAsIdentifier(NodeId id, std::string_view name) {
  const std::uint32_t offset = nodes_[id].offset;
  nodes_[id] = {.kind = NodeKind::kIdentifier, .offset = offset, .name = AddName(name)};
}

void Ast::RewriteAsFreeCall(NodeId id, std::string_view function) {
  nodes_[id].name = AddName(function);
  if (!nodes_[id].has_target) return;
  nodes_[id].has_target = false;
  ++nodes_[id].first;
  --nodes_[id].count;
}

}  // namespace apiserver::v0::cel::syntax
