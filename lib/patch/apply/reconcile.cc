#include "apiserver/patch/apply/typed.h"

#include "patch/apply/set_builder.h"
#include "patch/apply/type.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Arena;
using Entry = FieldSet::Entry;

// Returns the type of the values behind `element`; null: unknown.
const Type* ChildType(const Type* type, const PathElement& element) {
  if (type == nullptr) return nullptr;
  if (element.kind() == PathElement::Kind::kFieldName && type->map) {
    bool declared = false;
    return type->FieldType(element.field_name(), declared);
  }
  return element.kind() == PathElement::Kind::kKey && type->list ? type->items : nullptr;
}

// Follows Set.EnsureNamedFieldsAreMembers in structured-merge-diff's fieldpath.
FieldSet Ensure(FieldSet set, const Type* type, SetBuilder& out) {
  const std::size_t mark = out.Mark();
  for (Entry entry : set.entries()) {
    if (!entry.children.Empty()) {
      if (entry.element.kind() == PathElement::Kind::kFieldName && type != nullptr && type->map &&
          type->fields.Find(entry.element.field_name()) != nullptr) {
        entry.member = true;
      }
      entry.children = Ensure(entry.children, ChildType(type, entry.element), out);
    }
    out.Add(entry);
  }
  return out.FinishOr(mark, set);
}

// Follows reconcileWithSchemaWalker: owners of fields below a place that has become atomic own the
// whole place.
class Reconciler {
 public:
  explicit Reconciler(Arena& arena) : out_(arena) {}

  // Visits a place of `type`, none of whose parents has become atomic.
  FieldSet Visit(FieldSet set, const Type& type) {
    if (set.Empty() || !type.has_atomic) return set;
    const bool map = type.map;
    if (!map && (type.scalar != Type::Scalar::kNone || !type.list)) return set;
    if (map && type.untyped_deduced_map) return set;
    const std::size_t mark = out_.Mark();
    for (Entry entry : set.entries()) {
      bool declared = false;
      const Type* child = map ? type.values : type.items;
      if (map && entry.element.kind() == PathElement::Kind::kFieldName) {
        child = type.FieldType(entry.element.field_name(), declared);
      }
      if (child != nullptr) Update(entry, *child);
      out_.Add(entry);
    }
    return out_.FinishOr(mark, set);
  }

  bool changed() const { return changed_; }

 private:
  void Update(Entry& entry, const Type& type) {
    const bool atomic_already = entry.member && entry.children.Empty();
    if (!atomic_already && BecameAtomic(type)) {
      entry.member = true;
      entry.children = FieldSet();
      changed_ = true;
      return;
    }
    entry.children = Visit(entry.children, type);
  }

  static bool BecameAtomic(const Type& type) {
    if (type.map) return type.map_atomic && !type.untyped_deduced_map;
    return type.scalar == Type::Scalar::kNone && type.list && type.list_atomic;
  }

  SetBuilder out_;
  bool changed_ = false;
};

}  // namespace

FieldSet EnsureNamedFieldsAreMembers(FieldSet set, const Type& type, Arena& arena) {
  SetBuilder out(arena);
  return Ensure(set, &type, out);
}

std::optional<FieldSet> ReconcileFieldSetWithSchema(FieldSet set, const Type& type, Arena& arena) {
  Reconciler reconciler(arena);
  // The whole object has no owner, atomic or not.
  const bool atomic = type.map ? type.map_atomic : type.list && type.list_atomic;
  const FieldSet reconciled = atomic ? set : reconciler.Visit(set, type);
  if (!reconciler.changed()) return std::nullopt;
  return reconciled;
}

}  // namespace apiserver::v0::patch::apply
