#include "apiserver/cel/type.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>

#include "cel/types/spell.h"

namespace apiserver::inline v0::cel {
namespace {

// A node that Types count. It owns its name, parameters and fields.
struct CountedNode : TypeNode {
  mutable std::atomic<std::uint32_t> owners = 1;
  std::string text;
  std::vector<Type> owned;
  std::vector<const TypeNode*> pointers;
  std::vector<StructField> fields;
};

CountedNode& Counted(const TypeNode* node) {
  return const_cast<CountedNode&>(static_cast<const CountedNode&>(*node));
}

// Builds a counted node; the returned Type owns it.
Type Make(TypeKind kind, std::string name, std::span<const Type> parameters,
          std::vector<StructField> fields = {}, bool open = false) {
  auto made = std::make_unique<CountedNode>();
  made->kind = kind;
  made->counted = true;
  made->open = open;
  made->text = std::move(name);
  made->name = made->text;
  made->owned.assign(parameters.begin(), parameters.end());
  for (const Type& parameter : made->owned) made->pointers.push_back(&parameter.node());
  made->parameter_count = static_cast<std::uint8_t>(made->pointers.size());
  made->parameters = made->pointers.data();
  made->fields = std::move(fields);
  const CountedNode& node = *made;
  Type type(node);
  // The Type has counted itself; the node's own count goes with the pointer.
  made.release();
  node.owners.fetch_sub(1, std::memory_order_relaxed);
  return type;
}

// Names of the kinds that have no name of their own, in the order of TypeKind.
constexpr std::string_view kKindNames[] = {
    "!error!",
    "dyn",
    "google.protobuf.Any",
    "null_type",
    "bool",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "google.protobuf.Timestamp",
    "google.protobuf.Duration",
    "type",
    "list",
    "map",
};

// Names as messages print them, where they differ.
std::string_view PrintedName(const TypeNode& node) {
  switch (node.kind) {
    case TypeKind::kAny:
      return "any";
    case TypeKind::kNull:
      return "null";
    case TypeKind::kTimestamp:
      return "timestamp";
    case TypeKind::kDuration:
      return "duration";
    case TypeKind::kWrapper:
      return "wrapper";
    default:
      return Type(node).name();
  }
}

bool SameNode(const TypeNode& a, const TypeNode& b) {
  return a.kind == b.kind && a.name == b.name && a.parameter_count == b.parameter_count;
}

}  // namespace

Type Type::Of(TypeKind kind) {
  static constexpr TypeNode kNodes[] = {
      types::kError,     types::kDyn,      types::kAny,    types::kNull,     types::kBool,
      types::kInt,       types::kUint,     types::kDouble, types::kString,   types::kBytes,
      types::kTimestamp, types::kDuration, types::kType,   types::kBareList, types::kBareMap,
  };
  const auto index = static_cast<std::size_t>(kind);
  return index < std::size(kNodes) ? Type(kNodes[index]) : Type();
}

Type Type::List(const Type& items) { return Make(TypeKind::kList, "", {&items, 1}); }

Type Type::Map(const Type& keys, const Type& values) {
  const Type parameters[] = {keys, values};
  return Make(TypeKind::kMap, "", parameters);
}

Type Type::Optional(const Type& value) {
  return Make(TypeKind::kOpaque, std::string(types::kOptionalName), {&value, 1});
}

Type Type::TypeOf(const Type& type) { return Make(TypeKind::kType, "", {&type, 1}); }

Type Type::Wrapper(const Type& scalar) { return Make(TypeKind::kWrapper, "", {&scalar, 1}); }

Type Type::Opaque(std::string name, std::span<const Type> parameters) {
  return Make(TypeKind::kOpaque, std::move(name), parameters);
}

Type Type::Parameter(std::string name) { return Make(TypeKind::kParameter, std::move(name), {}); }

Type Type::Struct(StructType parts) {
  std::stable_sort(parts.fields.begin(), parts.fields.end(),
                   [](const StructField& a, const StructField& b) { return a.name < b.name; });
  return Make(TypeKind::kStruct, std::move(parts.name), {}, std::move(parts.fields), parts.open);
}

Type Type::Struct(std::string name) { return Make(TypeKind::kStruct, std::move(name), {}); }

std::string_view Type::name() const {
  if (node_->kind == TypeKind::kWrapper) return parameter(0).name();
  const auto index = static_cast<std::size_t>(node_->kind);
  return index < std::size(kKindNames) ? kKindNames[index] : node_->name;
}

bool Type::is_optional() const {
  return node_->kind == TypeKind::kOpaque && node_->name == types::kOptionalName;
}

std::span<const StructField> Type::fields() const {
  if (node_->kind != TypeKind::kStruct || !node_->counted) return {};
  return Counted(node_).fields;
}

const Type* Type::FindField(std::string_view escaped_name) const {
  static const Type dyn;
  const std::span<const StructField> all = fields();
  const auto at = std::lower_bound(
      all.begin(), all.end(), escaped_name,
      [](const StructField& field, std::string_view name) { return field.name < name; });
  if (at != all.end() && at->name == escaped_name) return &at->type;
  return node_->open && node_->kind == TypeKind::kStruct ? &dyn : nullptr;
}

std::string Type::ToString() const {
  // An explicit stack, since schemas may be deep: nodes to print, and literal text between them.
  struct Piece {
    const TypeNode* node;
    std::string_view text;
  };
  std::vector<Piece> pending = {{node_, {}}};
  std::string printed;
  while (!pending.empty()) {
    const Piece piece = pending.back();
    pending.pop_back();
    if (piece.node == nullptr) {
      printed += piece.text;
      continue;
    }
    printed += PrintedName(*piece.node);
    const std::size_t count = piece.node->parameter_count;
    if (count == 0) continue;
    printed += '(';
    pending.push_back({nullptr, ")"});
    for (std::size_t i = count; i-- > 0;) {
      pending.push_back({piece.node->parameters[i], {}});
      if (i > 0) pending.push_back({nullptr, ", "});
    }
  }
  return printed;
}

bool operator==(const Type& a, const Type& b) {
  std::vector<std::pair<const TypeNode*, const TypeNode*>> pending = {{a.node_, b.node_}};
  while (!pending.empty()) {
    const auto [left, right] = pending.back();
    pending.pop_back();
    if (left == right) continue;
    if (!SameNode(*left, *right)) return false;
    for (std::size_t i = 0; i < left->parameter_count; ++i) {
      pending.emplace_back(left->parameters[i], right->parameters[i]);
    }
  }
  return true;
}

void Type::Count(const TypeNode* node) {
  Counted(node).owners.fetch_add(1, std::memory_order_relaxed);
}

void Type::Release(const TypeNode* node) {
  if (Counted(node).owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // The types below are destroyed here one after the other, so that depth takes no stack.
  std::vector<CountedNode*> dead = {&Counted(node)};
  const auto release_last = [&dead](Type& type) {
    const TypeNode* const below = std::exchange(type.node_, &kDynNode);
    if (!below->counted) return;
    if (Counted(below).owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      dead.push_back(&Counted(below));
    }
  };
  while (!dead.empty()) {
    const std::unique_ptr<CountedNode> last(dead.back());
    dead.pop_back();
    for (Type& parameter : last->owned) release_last(parameter);
    for (StructField& field : last->fields) release_last(field.type);
  }
}

}  // namespace apiserver::inline v0::cel
