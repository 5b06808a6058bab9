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

// Which fields of an object somebody owns, and their notation in managedFields (FieldsV1):
// sigs.k8s.io/structured-merge-diff's package fieldpath.
namespace apiserver::inline v0::patch::apply {

// How to get from a map, struct or list to one of its parts. 24 bytes, trivially copyable; names,
// keys and values are borrowed.
class PathElement {
 public:
  // In the order in which sets hold them.
  enum class Kind : std::uint8_t {
    kFieldName,  // A member of a map or struct.
    kKey,        // The element of a list of type map that has these keys.
    kValue,      // The element of a list of type set that is this value.
    kIndex,      // An element of a list by its place; no list type makes such elements.
    kUnknown,    // An element that lacks what it should be known by; owned by nobody.
  };

  // The field with the empty name.
  PathElement() : kind_(Kind::kFieldName), name_() {}
  static PathElement FieldName(std::string_view name) {
    PathElement element;
    element.name_ = name;
    return element;
  }
  // `fields` must be sorted by name.
  static PathElement Key(std::span<const runtime::Member> fields) {
    PathElement element;
    element.kind_ = Kind::kKey;
    element.key_ = fields;
    return element;
  }
  static PathElement OfValue(runtime::Value value) {
    PathElement element;
    element.kind_ = Kind::kValue;
    element.value_ = value;
    return element;
  }
  static PathElement Index(std::int64_t index) {
    PathElement element;
    element.kind_ = Kind::kIndex;
    element.index_ = index;
    return element;
  }

  static PathElement Unknown() {
    PathElement element;
    element.kind_ = Kind::kUnknown;
    return element;
  }

  Kind kind() const { return kind_; }
  // Of the kind in question; otherwise empty, null or zero.
  std::string_view field_name() const {
    return kind_ == Kind::kFieldName ? name_ : std::string_view();
  }
  std::span<const runtime::Member> key() const {
    return kind_ == Kind::kKey ? key_ : std::span<const runtime::Member>();
  }
  runtime::Value value() const { return kind_ == Kind::kValue ? value_ : runtime::Value(); }
  std::int64_t index() const { return kind_ == Kind::kIndex ? index_ : 0; }

  // ".spec", "[name=\"x\",port=80]", "[=\"x\"]", "[3]": as errors and conflicts print it.
  std::string ToString() const;

  // Negative, zero or positive; numbers compare by value, 1 is 1.0.
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
// ".spec.containers[name=\"x\"].image".
std::string PathString(PathView path);

// A set of fields, as a tree of path elements. A handle of 16 bytes on what lies, sorted and
// immutable, in an Arena (and on text which that borrows): both must outlive it. Operations share
// what does not change, and take the arena for what does. Safe to read from any thread.
//
// A field may be a member without its parent being one, and the other way round.
class FieldSet {
 public:
  struct Entry;
  // Deeper paths are never made by this room; what is older and deeper is refused when it is read.
  static constexpr std::size_t kDepthMax = 512;

  FieldSet() = default;  // Empty.
  // For those who build entries themselves: sorted, each once, each a member or with children.
  explicit FieldSet(std::span<const Entry> entries);

  bool Empty() const { return size_ == 0; }
  // How many members there are, at all depths.
  std::size_t Size() const;
  bool Has(PathView path) const;
  // What is below `element`, without it; empty when there is nothing.
  FieldSet WithPrefix(const PathElement& element) const;
  // Null when neither `element` nor anything below it is in the set.
  const Entry* Find(const PathElement& element) const;
  std::span<const Entry> entries() const;

  // This set and the field `path`, without its parents. The empty path adds nothing.
  FieldSet Insert(PathView path, runtime::Arena& arena) const;
  FieldSet Union(FieldSet other, runtime::Arena& arena) const;
  FieldSet Intersection(FieldSet other, runtime::Arena& arena) const;
  // Members of this set that are no members of `other`; what is below them stays.
  FieldSet Difference(FieldSet other, runtime::Arena& arena) const;
  // The same, and what is below members of `other` goes too.
  FieldSet RecursiveDifference(FieldSet other, runtime::Arena& arena) const;
  // The members with nothing below them.
  FieldSet Leaves(runtime::Arena& arena) const;

  // Calls `visit` with every member: those of one level, then what is below each. The path is valid
  // during the call.
  void Iterate(const std::function<void(PathView)>& visit) const;
  // A path a line, in that order.
  std::string ToString() const;

  // The same members.
  friend bool operator==(FieldSet a, FieldSet b);

 private:
  const Entry* entries_ = nullptr;
  std::uint32_t size_ = 0;
};

struct FieldSet::Entry {
  PathElement element;
  FieldSet children;
  bool member = false;  // Whether `element` itself is in the set.
};

inline FieldSet::FieldSet(std::span<const Entry> entries)
    : entries_(entries.data()), size_(static_cast<std::uint32_t>(entries.size())) {}

inline std::span<const FieldSet::Entry> FieldSet::entries() const { return {entries_, size_}; }

FieldSet NewFieldSet(std::initializer_list<Path> paths, runtime::Arena& arena);
// A deep copy in `arena`, text included.
FieldSet Copy(FieldSet set, runtime::Arena& arena);

// The set that `json`, the `fieldsV1` of an entry of managedFields, stands for. `json` is borrowed.
// Keys of a kind that is not known are dropped with what is below them, null counts as {}.
//
// kBadRequest: it is no such JSON, or deeper than FieldSet::kDepthMax.
Result<FieldSet> DecodeFieldsV1(std::string_view json, runtime::Arena& arena);
// Appends the set's fieldsV1: the bytes a Go server writes.
void AppendFieldsV1(FieldSet set, std::string& out);

}  // namespace apiserver::inline v0::patch::apply
