#pragma once

#include <memory>
#include <optional>

#include "apiserver/base/status.h"
#include "apiserver/patch/apply/field_set.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

// Values with a type, which says what of them can be owned alone and how two of them become one:
// sigs.k8s.io/structured-merge-diff's package typed.
//
// Errors are Statuses of kBadRequest whose message is upstream's (".spec.ports: duplicate entries
// for key [port=80]"); callers give them the reason their place asks for. What is nested deeper
// than FieldSet::kDepthMax is refused in our own words. Results share what they can with the
// operands and live in `arena` otherwise: operands must outlive results.
namespace apiserver::inline v0::patch::apply {

struct Type;
class TypeGraph;

// The type of a kind's objects in one version, made once of its Schema: lists are atomic, sets or
// maps by x-kubernetes-list-type (or the patch strategy "merge"), maps and structs granular unless
// marked atomic, scalars, raw JSON and base64 text leaves. Cheap to copy; safe on any thread.
class ParseableType {
 public:
  // Deduced: maps are granular, lists atomic, whatever they hold.
  ParseableType();
  // Null: deduced. The type of just that value: the fields of `schema` and no others.
  explicit ParseableType(runtime::SchemaPtr schema);
  // The same of a whole object: `apiVersion` and `kind` beside the fields of `schema`.
  static ParseableType ForObject(runtime::SchemaPtr schema);

  const Type& type() const { return *type_; }

 private:
  std::shared_ptr<const TypeGraph> graph_;  // Null: deduced.
  const Type* type_;
};

struct ValidationOptions {
  // Whether sets and lists of type map may hold the same item twice; what a client applies may not,
  // what updates once let in may.
  bool allow_duplicates = false;
};

struct ExtractOptions {
  // Take the keys of list items along, whether or not the set has them.
  bool append_key_fields = false;
};

// What Compare() found; no field is in two of the sets.
struct Comparison {
  FieldSet removed;
  FieldSet modified;
  FieldSet added;

  bool IsSame() const { return removed.Empty() && modified.Empty() && added.Empty(); }
  // "- Modified Fields:\n.a\n" and so on, as upstream prints it.
  std::string ToString() const;
};

// A Value and what it is said to be. A handle: value and type must outlive it.
class TypedValue {
 public:
  // Not validated; operations on what is invalid find what they find.
  TypedValue(runtime::Value value, const ParseableType& type)
      : value_(value), type_(&type.type()) {}

  runtime::Value value() const { return value_; }
  const Type& type() const { return *type_; }

  // Fields that the type does not have, values of other types, lists whose items cannot be told
  // apart.
  Status Validate(const ValidationOptions& options = {}) const;
  // Every leaf, and every item of lists and maps: what who applies this value owns.
  Result<FieldSet> ToFieldSet(runtime::Arena& arena) const;
  // This value with what `partial`, of the same type, says in place of what this says. Nothing is
  // removed. Items are in the order of this value, or of `partial` where that gives another one.
  Result<TypedValue> Merge(const TypedValue& partial, runtime::Arena& arena) const;
  // What `rhs`, of the same type, has that this has not, and the other way round.
  Result<Comparison> Compare(const TypedValue& rhs, runtime::Arena& arena) const;
  // Without the members of `items` and what is below them.
  TypedValue RemoveItems(FieldSet items, runtime::Arena& arena) const;
  // With nothing but the members of `items`, which should be leaves.
  TypedValue ExtractItems(FieldSet items, runtime::Arena& arena,
                          const ExtractOptions& options = {}) const;

 private:
  TypedValue(runtime::Value value, const Type& type) : value_(value), type_(&type) {}

  runtime::Value value_;
  const Type* type_;
};

// A TypedValue that has been validated.
Result<TypedValue> AsTyped(runtime::Value value, const ParseableType& type,
                           const ValidationOptions& options = {});

// Whether two values say the same: 1 is 1.0, {} is not null, the order of members does not matter.
bool ValuesEqual(const runtime::Value& a, const runtime::Value& b);

// `set` and those fields of structs that have something below them in it.
FieldSet EnsureNamedFieldsAreMembers(FieldSet set, const Type& type, runtime::Arena& arena);

// `set`, written under an older schema, as `type` would have it: what is below a part that has
// become atomic turns into that part. nullopt: nothing has changed.
std::optional<FieldSet> ReconcileFieldSetWithSchema(FieldSet set, const Type& type,
                                                    runtime::Arena& arena);

}  // namespace apiserver::inline v0::patch::apply
