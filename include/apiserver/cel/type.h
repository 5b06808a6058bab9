#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The types of CEL expressions: common/types/types.go of cel-go 0.26.
namespace apiserver::inline v0::cel {

// The kind of a type.
enum class TypeKind : std::uint8_t {
  kError,  // The type of an expression that does not check; goes with every type.
  kDyn,    // Any value; checked when it is used.
  kAny,    // google.protobuf.Any; prints as "any", else like kDyn.
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kTimestamp,
  kDuration,
  kType,       // type(T). One parameter, or none: the type of every type.
  kList,       // list(T). One parameter.
  kMap,        // map(K, V). Two parameters.
  kStruct,     // A named type with fields; also Kubernetes' types without any.
  kOpaque,     // A named type with parameters: optional_type(T), net.IP.
  kWrapper,    // wrapper(T): a scalar or null. One parameter.
  kParameter,  // A type variable; named in declarations.
};

struct StructType;

// The content of a Type. Declarations of functions are made of constexpr nodes (cel/types/spell.h);
// all others are counted and made by Type's functions.
struct TypeNode {
  TypeKind kind = TypeKind::kDyn;
  bool counted = false;  // Part of a counted node of type.cc.
  bool open = false;     // kStruct: StructType::open.
  std::uint8_t parameter_count = 0;
  std::string_view name;  // kStruct, kOpaque, kParameter.
  const TypeNode* const* parameters = nullptr;
};

// A counted reference to an immutable type. 8 bytes, cheap to copy, thread-safe. Types compare by
// structure.
class Type {
 public:
  // Makes dyn.
  Type() = default;
  Type(const Type& other) : node_(other.node_) { Keep(); }
  Type(Type&& other) noexcept : node_(std::exchange(other.node_, &kDynNode)) {}
  Type& operator=(Type other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Type() {
    if (node_->counted) Release(node_);
  }
  // Refers to a node: one that outlives the type, or a counted one.
  explicit Type(const TypeNode& node) : node_(&node) { Keep(); }

  // Makes a type without name and parameters: int, dyn, null, ….
  static Type Of(TypeKind kind);
  static Type Dyn() { return {}; }
  static Type Bool() { return Of(TypeKind::kBool); }
  static Type Int() { return Of(TypeKind::kInt); }
  static Type Uint() { return Of(TypeKind::kUint); }
  static Type Double() { return Of(TypeKind::kDouble); }
  static Type String() { return Of(TypeKind::kString); }
  static Type Bytes() { return Of(TypeKind::kBytes); }
  static Type Timestamp() { return Of(TypeKind::kTimestamp); }
  static Type Duration() { return Of(TypeKind::kDuration); }
  static Type Null() { return Of(TypeKind::kNull); }
  static Type List(const Type& items);
  static Type Map(const Type& keys, const Type& values);
  static Type Optional(const Type& value);
  static Type TypeOf(const Type& type);
  static Type Wrapper(const Type& scalar);
  static Type Opaque(std::string name, std::span<const Type> parameters = {});
  static Type Parameter(std::string name);
  // Makes a struct type. A name without fields is a type of Kubernetes: "kubernetes.URL".
  static Type Struct(StructType parts);
  static Type Struct(std::string name);

  TypeKind kind() const { return node_->kind; }
  // The name of a struct, an opaque type or a type variable; the kind's word for all others: "int",
  // "list", "google.protobuf.Timestamp".
  std::string_view name() const;
  std::size_t parameter_count() const { return node_->parameter_count; }
  Type parameter(std::size_t index) const { return Type(*node_->parameters[index]); }
  // dyn, any and the error type: types that go with all others.
  bool is_dyn() const { return node_->kind <= TypeKind::kAny; }
  bool is_optional() const;

  // Returns the type of a struct's field by its escaped name. Null: the struct has no such field,
  // or this is no struct. Valid as long as this type's node.
  const Type* FindField(std::string_view escaped_name) const;
  // The names and types of a struct's fields, ordered by name.
  std::span<const struct StructField> fields() const;

  const TypeNode& node() const { return *node_; }

  // Prints the type as cel-go's messages do: "map(string, list(dyn))", "timestamp", "wrapper(int)".
  std::string ToString() const;

  friend bool operator==(const Type& a, const Type& b);

 private:
  static const TypeNode kDynNode;

  void Keep() const {
    if (node_->counted) Count(node_);
  }
  static void Count(const TypeNode* node);
  static void Release(const TypeNode* node);

  const TypeNode* node_ = &kDynNode;
};

inline constexpr TypeNode Type::kDynNode{};

// A field of a struct type.
struct StructField {
  std::string name;  // Escaped, as expressions spell it: names.h.
  Type type;
};

// The parts that a struct type is made from.
struct StructType {
  std::string name;                      // "kubernetes.AdmissionRequest".
  std::vector<StructField> fields = {};  // In any order; of two with one name the first counts.
  // Accepts every field name, with type dyn; NAME.x is then a struct type of the same sort. The
  // types Object of mutating admission policies.
  bool open = false;
};

}  // namespace apiserver::inline v0::cel
