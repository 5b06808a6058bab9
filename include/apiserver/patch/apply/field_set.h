#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/value.h"

// Sets of an object's fields, and their notation in managedFields (FieldsV1):
// sigs.k8s.io/structured-merge-diff's package fieldpath.
namespace apiserver::inline v0::patch::apply {

// One step from a map, struct or list to one of its parts. 24 bytes, trivially copyable; names,
// keys and values are borrowed.
class PathElement {
 public:
  // The kinds, in the order in which sets hold them.
  enum class Kind : std::uint8_t {
    kFieldName,  // A member of a map or struct.
    kKey,        // The element of a list of type map that has these keys.
    kValue,      // The element of a list of type set that is this value.
    kIndex,      // An element of a list by its place; no list type makes such elements.
    kUnknown,    // A list item without the key or value that would identify it; has no owner.
  };

  // The field with the empty name.
  PathElement() : kind_(Kind::kFieldName), name_() {}
  // A member of a map or struct.
  static PathElement FieldName(std::string_view name) {
    PathElement element;
    element.name_ = name;
    return element;
  }
  // An item of a list of type map. `fields` must be sorted by name.
  static PathElement Key(std::span<const runtime::Member> fields) {
    PathElement element;
    element.kind_ = Kind::kKey;
    element.key_ = fields;
    return element;
  }
  // An item of a list of type set.
  static PathElement OfValue(runtime::Value value) {
    PathElement element;
    element.kind_ = Kind::kValue;
    element.value_ = value;
    return element;
  }
  // A list item at this index.
  static PathElement Index(std::int64_t index) {
    PathElement element;
    element.kind_ = Kind::kIndex;
    element.index_ = index;
    return element;
  }

  // A list item that cannot be identified.
  static PathElement Unknown() {
    PathElement element;
    element.kind_ = Kind::kUnknown;
    return element;
  }

  Kind kind() const { return kind_; }
  // The part that belongs to the kind; the others are empty, null or zero.
  std::string_view field_name() const {
    return kind_ == Kind::kFieldName ? name_ : std::string_view();
  }
  std::span<const runtime::Member> key() const {
    return kind_ == Kind::kKey ? key_ : std::span<const runtime::Member>();
  }
  runtime::Value value() const { return kind_ == Kind::kValue ? value_ : runtime::Value(); }
  std::int64_t index() const { return kind_ == Kind::kIndex ? index_ : 0; }

  // Prints ".spec", "[name=\"x\",port=80]", "[=\"x\"]", "[3]", as errors and conflicts do.
  std::string ToString() const;

  // Negative, zero or positive. Numbers compare by value: 1 equals 1.0.
  static int Compare(const PathElement& a, const PathElement& b);
  friend bool operator==(const PathElement& a, const PathElement& b) { return Compare(a, b) == 0; }

 private:
  Kind kind_;
  union {
    std::string_view name_;
    std::span<const runtime::Member> key_;
    runtime::Value value_;
    std::int64_t index_;
  };
};
static_assert(sizeof(PathElement) == 24);

using Path = std::vector<PathElement>;
using PathView = std::span<const PathElement>;
// Prints ".spec.containers[name=\"x\"].image".
std::string PathString(PathView path);

// A set of fields, as a tree of path elements. A handle of 16 bytes to sorted, immutable entries in
// an Arena, which may borrow text: both must outlive it. Operations share unchanged parts, and take
// the arena for new ones. Safe to read from any thread.
//
// A field may be a member without its parent being one, and the other way round.
class FieldSet {
 public:
  struct Entry;
  // The deepest path. This room makes no deeper ones and refuses to read them.
  static constexpr std::size_t kDepthMax = 512;

  FieldSet() = default;  // Empty.
  // Wraps entries that the caller has built: sorted, distinct, each a member or with children.
  explicit FieldSet(std::span<const Entry> entries);

  // True if it has no members.
  bool Empty() const { return size_ == 0; }
  // Returns the number of members at all depths.
  std::size_t Size() const;
  // True if `path` itself is a member.
  bool Has(PathView path) const;
  // Returns the set below `element`, with paths that start there; empty if there is nothing.
  FieldSet WithPrefix(const PathElement& element) const;
  // Null: neither `element` nor anything below it is in the set.
  const Entry* Find(const PathElement& element) const;
  std::span<const Entry> entries() const;

  // Returns this set and the field `path`, without its parents. The empty path adds nothing.
  FieldSet Insert(PathView path, runtime::Arena& arena) const;
  // Returns the members of either set. This and the following results share what they can with the
  // operands.
  FieldSet Union(FieldSet other, runtime::Arena& arena) const;
  // Returns the members of both sets.
  FieldSet Intersection(FieldSet other, runtime::Arena& arena) const;
  // Returns the members of this set that are not in `other`; fields below those stay.
  FieldSet Difference(FieldSet other, runtime::Arena& arena) const;
  // The same, but fields below members of `other` go too.
  FieldSet RecursiveDifference(FieldSet other, runtime::Arena& arena) const;
  // Returns the members with nothing below them.
  FieldSet Leaves(runtime::Arena& arena) const;

  // Calls `visit` on this thread with every member: those of one level, then those below each. The
  // path is valid during the call. `visit` may block if this thread may.
  void Iterate(const std::function<void(PathView)>& visit) const;
  // Prints one path a line, in that order.
  std::string ToString() const;

  // True if both have the same members.
  friend bool operator==(FieldSet a, FieldSet b);

 private:
  const Entry* entries_ = nullptr;
  std::uint32_t size_ = 0;
};

// An element with the set below it.
struct FieldSet::Entry {
  PathElement element;
  FieldSet children;
  bool member = false;  // `element` itself is in the set.
};

inline FieldSet::FieldSet(std::span<const Entry> entries)
    : entries_(entries.data()), size_(static_cast<std::uint32_t>(entries.size())) {}

inline std::span<const FieldSet::Entry> FieldSet::entries() const { return {entries_, size_}; }

// Builds a set of these paths, whose text is borrowed.
FieldSet NewFieldSet(std::initializer_list<Path> paths, runtime::Arena& arena);
// Returns a deep copy in `arena`, text included.
FieldSet Copy(FieldSet set, runtime::Arena& arena);

// Parses the set in `json`, the `fieldsV1` of an entry of managedFields, which is borrowed. Keys of
// an unknown kind are dropped with everything below them, null counts as {}.
//
// kBadRequest: it is no such JSON, or deeper than FieldSet::kDepthMax.
Result<FieldSet> DecodeFieldsV1(std::string_view json, runtime::Arena& arena);
// The same for a `fieldsV1` in an object: as text, if its kind keeps that, or parsed. Its texts are
// borrowed.
Result<FieldSet> DecodeFieldsV1(const runtime::Value& fields, runtime::Arena& arena);
// Appends the set's fieldsV1, byte for byte as a Go server writes it.
void AppendFieldsV1(FieldSet set, std::string& out);

}  // namespace apiserver::inline v0::patch::apply
