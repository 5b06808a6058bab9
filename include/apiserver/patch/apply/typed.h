#pragma once

#include <memory>
#include <optional>

#include "apiserver/base/status.h"
#include "apiserver/patch/apply/field_set.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

// Values with a type, which determines the parts that can be owned on their own and how two values
// are merged: sigs.k8s.io/structured-merge-diff's package typed.
//
// Errors are Statuses of kBadRequest whose message is upstream's (".spec.ports: duplicate entries
// for key [port=80]"); callers replace the reason by that of their context. Values nested deeper
// than FieldSet::kDepthMax are refused in our own words. Results share what they can with the
// operands and live in `arena` otherwise: operands must outlive results.
namespace apiserver::inline v0::patch::apply {

struct Type;
class TypeGraph;

// The type of a kind's objects in one version, made once from its Schema: lists are atomic, sets or
// maps by x-kubernetes-list-type (or the patch strategy "merge"), maps and structs granular unless
// marked atomic; scalars, raw JSON and base64 text are leaves. Cheap to copy; safe on any thread.
class ParseableType {
 public:
  // A type deduced from each value: maps are granular, lists atomic, with any content.
  ParseableType();
  // The type of values of `schema`, with its fields and no others. Null: deduced.
  explicit ParseableType(runtime::SchemaPtr schema);
  // The type of whole objects: `apiVersion` and `kind` beside the fields of `schema`.
  static ParseableType ForObject(runtime::SchemaPtr schema);

  const Type& type() const { return *type_; }

 private:
  std::shared_ptr<const TypeGraph> graph_;  // Null: deduced.
  const Type* type_;
};

// Relaxations of Validate().
struct ValidationOptions {
  // Sets and lists of type map may hold an item twice. The configuration of an apply must not;
  // objects may, since updates once let duplicates in.
  bool allow_duplicates = false;
};

// Options of ExtractItems().
struct ExtractOptions {
  // Keeps the keys of list items even if the set lacks them.
  bool append_key_fields = false;
};

// The differences that Compare() found; no field is in two of the sets.
struct Comparison {
  FieldSet removed;
  FieldSet modified;
  FieldSet added;

  // True if there are no differences.
  bool IsSame() const { return removed.Empty() && modified.Empty() && added.Empty(); }
  // Prints "- Modified Fields:
  // .a
  // " and so on, as upstream does.
  std::string ToString() const;
};

// A Value with its type. A handle: value and type must outlive it.
class TypedValue {
 public:
  // Does not validate; operations on an invalid value return an error if they meet the fault.
  TypedValue(runtime::Value value, const ParseableType& type)
      : value_(value), type_(&type.type()) {}

  runtime::Value value() const { return value_; }
  const Type& type() const { return *type_; }

  // Finds fields that the type lacks, values of other types, and list items that cannot be told
  // apart.
  Status Validate(const ValidationOptions& options = {}) const;
  // Returns every leaf, and every item of lists and maps: the fields that a client owns by applying
  // this value.
  Result<FieldSet> ToFieldSet(runtime::Arena& arena) const;
  // Returns this value with the fields of `partial`, of the same type, in place of its own. Nothing
  // is removed. Items are in the order of this value, or of `partial` where that gives another one.
  Result<TypedValue> Merge(const TypedValue& partial, runtime::Arena& arena) const;
  // Returns the differences between this value and `rhs`, of the same type.
  Result<Comparison> Compare(const TypedValue& rhs, runtime::Arena& arena) const;
  // Returns the value without the members of `items` and everything below them.
  TypedValue RemoveItems(FieldSet items, runtime::Arena& arena) const;
  // Returns the value with only the members of `items`, which should be leaves.
  TypedValue ExtractItems(FieldSet items, runtime::Arena& arena,
                          const ExtractOptions& options = {}) const;

 private:
  TypedValue(runtime::Value value, const Type& type) : value_(value), type_(&type) {}

  runtime::Value value_;
  const Type* type_;
};

// Validates `value` and gives it its type.
Result<TypedValue> AsTyped(runtime::Value value, const ParseableType& type,
                           const ValidationOptions& options = {});

// True if two values mean the same: 1 is 1.0, {} is not null, the order of members does not matter.
bool ValuesEqual(const runtime::Value& a, const runtime::Value& b);

// Adds to `set` the fields of structs that have members of it below them.
FieldSet EnsureNamedFieldsAreMembers(FieldSet set, const Type& type, runtime::Arena& arena);

// Adapts `set`, written under an older schema, to `type`: members below a part that has become
// atomic are replaced by that part. nullopt: nothing has changed.
std::optional<FieldSet> ReconcileFieldSetWithSchema(FieldSet set, const Type& type,
                                                    runtime::Arena& arena);

}  // namespace apiserver::inline v0::patch::apply
