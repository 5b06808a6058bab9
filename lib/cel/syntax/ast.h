#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cel/syntax/source.h"

// The syntax tree of an expression: common/ast of cel-go with macros expanded. The tree is a table
// of nodes that refer to each other by number. A child's number is always less than its parent's,
// so a loop over the numbers visits children first, and nothing that walks a tree needs recursion.
namespace apiserver::inline v0::cel::syntax {

// The number of a node in its Ast.
using NodeId = std::uint32_t;
// The number of a name in its Ast: an identifier, field, function, variable or message type. Equal
// names of one Ast have equal numbers.
using NameId = std::uint32_t;

inline constexpr NodeId kNoNode = 0xFFFF'FFFF;
inline constexpr NameId kNoName = 0xFFFF'FFFF;

enum class NodeKind : std::uint8_t {
  kUnspecified,  // Stands for what could not be parsed; in no tree without issues.
  kConstant,
  kIdentifier,     // A leading dot is part of the name: ".x".
  kSelect,         // Children: the operand.
  kCall,           // Children: the target of a member call, then the arguments.
  kList,           // Children: the elements.
  kMap,            // Children: key, value, key, value.
  kMessage,        // Children: the values; fields are the entries' names.
  kComprehension,  // Children: range, init, condition, step, result.
};

// The bytes of a bytes literal, which are a type of their own among constants.
struct Bytes {
  std::string value;

  friend bool operator==(const Bytes&, const Bytes&) = default;
};

// The value of a literal. std::monostate is null.
using Constant =
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Bytes>;

// One node of 24 bytes. Ast's accessors read the parts that depend on the kind.
struct Node {
  NodeKind kind = NodeKind::kUnspecified;
  bool test_only = false;            // kSelect: has(operand.field).
  bool has_target = false;           // kCall: a member call.
  std::uint32_t offset = kNoOffset;  // Code points before the node's place in the source.
  NameId name =
      kNoName;  // Identifier, field, function, message type, or the loop's first variable.
  std::uint32_t first = 0;  // The first child in the table of children.
  std::uint32_t count = 0;
  std::uint32_t extra = 0;  // The constant, the first entry or the loop.
};

// Facts about one element of a list, one pair of a map or one field of a message.
struct Entry {
  std::uint32_t offset = kNoOffset;  // Place of the colon; kNoOffset for elements of lists.
  NameId field = kNoName;            // kMessage alone.
  bool optional = false;             // Written with a question mark.
};

// The children of a kComprehension by name:
//   accumulator = init
//   for variable[, second_variable] in range: if !condition break; accumulator = step
//   result
// With one variable it is an element of a list or a key of a map. With two they are index and
// element, or key and value.
struct Comprehension {
  NameId variable = kNoName;
  NameId second_variable = kNoName;  // kNoName: there is one variable.
  NameId accumulator = kNoName;
  NodeId range = kNoNode;
  NodeId init = kNoNode;
  NodeId condition = kNoNode;
  NodeId step = kNoNode;
  NodeId result = kNoNode;
};

// A syntax tree, which the parser builds and later passes read. Move-only. References and spans
// that it hands out live until the next Add* or Rewrite* call and must not be handed back to one.
// Not thread-safe while it changes.
class Ast {
 public:
  Ast() = default;
  Ast(Ast&&) = default;
  Ast& operator=(Ast&&) = default;
  Ast(const Ast&) = delete;
  Ast& operator=(const Ast&) = delete;

  // The node that the whole expression is; kNoNode for a tree without one.
  NodeId root() const { return root_; }
  // The number of nodes; valid numbers are below it. Among them are nodes that the root does not
  // reach: macro calls as they were written.
  std::size_t size() const { return nodes_.size(); }
  const Node& node(NodeId id) const { return nodes_[id]; }

  // All children of a node, in the order that NodeKind tells. Valid for every kind.
  std::span<const NodeId> children(NodeId id) const;
  // The target of a member call; kNoNode for a free one.
  NodeId target(NodeId call) const;
  // The arguments of a call, without its target.
  std::span<const NodeId> arguments(NodeId call) const;
  const Constant& constant(NodeId id) const { return constants_[nodes_[id].extra]; }
  Comprehension comprehension(NodeId id) const;
  // Entry `index` of a list, map or message.
  Entry entry(NodeId id, std::size_t index) const;
  // The number of elements, pairs or fields of a list, map or message.
  std::size_t entry_count(NodeId id) const;

  // The text of a name, "" for kNoName. Lives as long as the Ast, also when it is moved.
  std::string_view name(NameId id) const;
  // The text of a node's name: identifier, field, function or message type.
  std::string_view name_of(NodeId id) const { return name(nodes_[id].name); }
  // The number of a name that the tree has; kNoName when it is nowhere in it.
  NameId FindName(std::string_view name) const;

  // The call of a macro as it was written, for a node that one was expanded to; else kNoNode. The
  // call shares the nodes of its arguments with the expansion.
  NodeId macro_call(NodeId id) const;

  // The numbers of `id` and of all nodes below it, ascending: children first.
  std::vector<NodeId> Reachable(NodeId id) const;

  // Adds a name or finds it.
  NameId AddName(std::string_view name);
  NodeId AddUnspecified(std::uint32_t offset);
  NodeId AddConstant(std::uint32_t offset, Constant value);
  NodeId AddIdentifier(std::uint32_t offset, std::string_view name);
  NodeId AddSelect(std::uint32_t offset, NodeId operand, std::string_view field);
  // has(operand.field).
  NodeId AddPresenceTest(std::uint32_t offset, NodeId operand, std::string_view field);
  // A free call, which operators are too.
  NodeId AddCall(std::uint32_t offset, std::string_view function,
                 std::span<const NodeId> arguments);
  NodeId AddMemberCall(std::uint32_t offset, std::string_view function, NodeId target,
                       std::span<const NodeId> arguments);
  // `entries`: as many as elements, or none if no element is optional.
  NodeId AddList(std::uint32_t offset, std::span<const NodeId> elements,
                 std::span<const Entry> entries = {});
  // `children`: key, value, key, value; `entries`: one for each pair.
  NodeId AddMap(std::uint32_t offset, std::span<const NodeId> children,
                std::span<const Entry> entries);
  // `values` and `entries`: one for each field.
  NodeId AddMessage(std::uint32_t offset, std::string_view type, std::span<const NodeId> values,
                    std::span<const Entry> entries);
  NodeId AddComprehension(std::uint32_t offset, const Comprehension& loop);
  // Copies the tree below `id` and returns the copy's root. Nodes keep their offsets; entries get
  // `entry_offset`, as cel-go gives them the place of the macro that copies.
  NodeId AddCopy(NodeId id, std::uint32_t entry_offset);
  // Remembers that the node `expansion`, the newest one of its kind, was written as the node
  // `call`.
  void SetMacroCall(NodeId expansion, NodeId call);
  void set_root(NodeId id) { root_ = id; }

  // Turns a node into an identifier: the checker found that `a.b` is the name of one variable.
  void RewriteAsIdentifier(NodeId id, std::string_view name);
  // Turns a member call into a free call without its target: `a.b(x)` calls the function "a.b".
  void RewriteAsFreeCall(NodeId id, std::string_view function);

 private:
  NodeId Add(Node node, std::span<const NodeId> children);
  void AddEntries(Node& node, std::span<const Entry> entries);

  // Variables of a loop beside the first, which is the node's name.
  struct LoopNames {
    NameId second_variable;
    NameId accumulator;
  };

  std::vector<Node> nodes_;
  std::vector<NodeId> children_;
  std::vector<Entry> entries_;
  std::vector<Constant> constants_;
  std::vector<LoopNames> loops_;
  // Names by text, and the texts by number: the map's nodes do not move.
  std::map<std::string, NameId, std::less<>> name_ids_;
  std::vector<std::string_view> names_;
  std::map<NodeId, NodeId> macro_calls_;
  NodeId root_ = kNoNode;
};

}  // namespace apiserver::inline v0::cel::syntax
