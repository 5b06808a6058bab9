#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/cel/arena.h"
#include "apiserver/cel/type.h"
#include "apiserver/runtime/schema_node.h"
#include "apiserver/runtime/value.h"

// The values of CEL expressions: common/types of cel-go 0.26, seen through Kubernetes' schemas.
namespace apiserver::inline v0::cel {

class Value;
struct MapContent;  // Private: cel/run/map.h.

// A point in time between the years 1 and 9999, with the zone in which it was written.
struct Time {
  std::int64_t seconds = 0;         // Since 1970, UTC.
  std::uint32_t nanoseconds = 0;    // Below 1e9.
  std::int32_t offset_seconds = 0;  // East of UTC; only for printing.
};

// Describes all values of one opaque type: its name and the operations that every value has. A
// constexpr object beside the functions of the type.
struct OpaqueKind {
  const TypeNode* type;
  // Compares two values of this kind. Null: they cannot be compared, "no such overload", as other
  // values cannot be compared with them.
  bool (*equal)(const void* a, const void* b);
  // Returns the size that run-time cost counts. Null: the cost counts 1.
  std::uint64_t (*size)(const void* object) = nullptr;
  // The name of the Go type, for errors.
  std::string_view go_type = "ref.Val";
  // Returns the error that cel-go has where it takes the object out of an optional, for instance in
  // a branch of ?:. Null: it takes out the object.
  std::string (*error_taken_out)(const void* object) = nullptr;
  // Returns what Go prints of a value. Equal values are the same key of a map then, as Go compares
  // structs. Null: each is a key of its own, as Go compares pointers.
  std::string (*print)(const void* object) = nullptr;
};

// A value: 24 bytes, trivially copyable, immutable. Text, items and entries are borrowed: they lie
// in the data that a host hands in, in the Program, or in the Arena of the evaluation. A list or
// map of runtime::Values enters without a copy, with the schema that it is seen through.
class Value {
 public:
  enum class Kind : std::uint8_t {  // The types of CEL.
    kNull,
    kBool,
    kInt,
    kUint,
    kDouble,
    kString,
    kBytes,
    kTimestamp,
    kDuration,
    kList,
    kMap,
    kStruct,  // A message literal: a type's name, and fields.
    kType,
    kOptional,  // A value or nothing.
    kOpaque,    // A value of a library's type: net.IP, kubernetes.URL.
    kError,     // The error that evaluation ended with, as text.
    kUnknown,   // Not used by Kubernetes.
  };

  // Makes null.
  constexpr Value() = default;
  static constexpr Value Bool(bool value) {
    Value made(Kind::kBool);
    made.payload_.boolean = value;
    return made;
  }
  static constexpr Value Int(std::int64_t value) {
    Value made(Kind::kInt);
    made.payload_.integer = value;
    return made;
  }
  static constexpr Value Uint(std::uint64_t value) {
    Value made(Kind::kUint);
    made.payload_.natural = value;
    return made;
  }
  static constexpr Value Double(double value) {
    Value made(Kind::kDouble);
    made.payload_.number = value;
    return made;
  }
  // Borrow valid UTF-8 or bytes, less than 4 GiB.
  static constexpr Value String(std::string_view text) { return OfText(Kind::kString, text); }
  static constexpr Value Bytes(std::string_view bytes) { return OfText(Kind::kBytes, bytes); }
  // The result of an operation that failed. Borrows the text.
  static constexpr Value Error(std::string_view text) { return OfText(Kind::kError, text); }
  static Value Timestamp(Time time);
  static Value Duration(std::int64_t nanoseconds);
  // Borrows the items. `schema`: the list that they are counted as a continuation of: a set or
  // map-list keeps its rules under "+". Null: an ordinary list.
  static Value List(std::span<const Value> items, const runtime::Schema* schema = nullptr);
  static Value Map(const MapContent& content, const runtime::Schema* schema = nullptr);
  static Value Struct(const MapContent& fields, const TypeNode& type);
  static Value OfType(const TypeNode& type);
  static Value None();
  static Value Optional(const Value& value, Arena& arena);
  // Borrows an object that lies in an Arena or outlives the evaluation.
  static Value Opaque(const OpaqueKind& kind, const void* object);

  // Returns data as expressions see it: with `schema` as its type says (list types, formats,
  // escaped fields, null as absence), without one as plain JSON. The result borrows from both; only
  // what JSON holds in another form (base64, times, raw JSON) is made in `arena`. Data that does
  // not fit the schema is an error: "invalid data, expected string, got bool". Follows
  // UnstructuredToVal of k8s.io/apiserver/pkg/cel/common.
  static Value FromData(const runtime::Value& data, const runtime::Schema* schema, Arena& arena);

  constexpr Kind kind() const { return kind_; }
  constexpr bool Is(Kind kind) const { return kind_ == kind; }  // Compares the kind.
  constexpr bool is_null() const { return kind_ == Kind::kNull; }
  constexpr bool is_bool() const { return kind_ == Kind::kBool; }
  constexpr bool is_string() const { return kind_ == Kind::kString; }
  constexpr bool is_list() const { return kind_ == Kind::kList; }
  constexpr bool is_map() const { return kind_ == Kind::kMap; }
  constexpr bool is_error() const { return kind_ == Kind::kError; }
  constexpr bool is_number() const { return kind_ >= Kind::kInt && kind_ <= Kind::kDouble; }
  bool IsOpaque(const OpaqueKind& kind) const {  // Compares by address.
    return kind_ == Kind::kOpaque && extra_.opaque == &kind;
  }

  // Return the content of a value of the fitting kind, which must be checked before.
  constexpr bool AsBool() const { return payload_.boolean; }
  constexpr std::int64_t AsInt() const { return payload_.integer; }  // kInt, kDuration.
  constexpr std::uint64_t AsUint() const { return payload_.natural; }
  constexpr double AsDouble() const { return payload_.number; }
  // The text of a string, bytes or an error.
  constexpr std::string_view AsText() const { return {payload_.text, size_}; }
  Time AsTime() const;
  const TypeNode& AsType() const { return *payload_.type; }
  // The value of an optional. Null: none.
  const Value* AsOptional() const { return payload_.value; }
  template <class T>
  const T& AsOpaque() const {
    return *static_cast<const T*>(payload_.object);
  }
  const OpaqueKind& opaque_kind() const { return *extra_.opaque; }

  // The number of items of a list, entries of a map, fields of a struct, or bytes of a text.
  constexpr std::uint32_t size() const { return size_; }

  // A list or map of data: `items` or `members` are runtime's. Else it was built by an evaluation.
  constexpr bool is_data() const { return data_; }
  // The schema that a list or map is seen through. Null: none.
  const runtime::Schema* schema() const { return extra_.schema; }
  std::span<const runtime::Value> data_items() const { return {payload_.data_items, size_}; }
  std::span<const runtime::Member> data_members() const { return {payload_.data_members, size_}; }
  std::span<const Value> built_items() const { return {payload_.items, size_}; }
  const MapContent& built_map() const { return *payload_.map; }
  const TypeNode& struct_type() const { return *extra_.type; }

  // Returns item `index` of a list; it must be less than size().
  Value Item(std::size_t index, Arena& arena) const {
    return data_ ? DataItem(index, arena) : payload_.items[index];
  }

  // Returns the type that type(value) names at run time: int, list, map, null_type, net.IP, ….
  const TypeNode& RuntimeType() const;

 private:
  friend struct DataViews;  // cel/run/views.h: makes lists and maps of data.
  friend struct Marks;      // cel/run/marks.h: states of the machine.

  constexpr explicit Value(Kind kind) : kind_(kind) {}
  static constexpr Value OfText(Kind kind, std::string_view text) {
    Value made(kind);
    made.size_ = static_cast<std::uint32_t>(text.size());
    made.payload_.text = text.data();
    return made;
  }
  Value DataItem(std::size_t index, Arena& arena) const;

  Kind kind_ = Kind::kNull;
  bool data_ = false;         // kList, kMap: of runtime::Values.
  bool in_optional_ = false;  // Marks.
  std::uint32_t size_ = 0;    // kTimestamp: the nanoseconds.
  union Payload {
    std::int64_t integer = 0;
    bool boolean;
    std::uint64_t natural;
    double number;
    const char* text;
    const runtime::Value* data_items;
    const runtime::Member* data_members;
    const Value* items;
    const MapContent* map;
    const TypeNode* type;
    const Value* value;
    const void* object;
  } payload_;
  union Extra {
    const runtime::Schema* schema = nullptr;  // kList, kMap.
    const OpaqueKind* opaque;
    const TypeNode* type;         // kStruct.
    std::int64_t offset_seconds;  // kTimestamp.
  } extra_;
};
static_assert(sizeof(Value) == 24);

}  // namespace apiserver::inline v0::cel
