#include "apiserver/patch/apply/typed.h"

#include "patch/apply/errors.h"
#include "patch/apply/list_items.h"
#include "patch/apply/set_builder.h"
#include "patch/apply/type.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;
using Entry = FieldSet::Entry;

class Walker {
 public:
  explicit Walker(Arena& arena) : out_(arena) {}

  // Adds the fields below `entry`, and whether the place itself is one.
  void Visit(const Value& value, const Type& type, Entry& entry) {
    switch (type.Deduce(value).shape) {
      case Type::Shape::kMap:
        if (type.map_atomic) {
          entry.member = true;
        } else {
          VisitMap(value, type, entry);
        }
        return;
      case Type::Shape::kScalar:
        entry.member = true;
        return;
      case Type::Shape::kList:
        if (type.list_atomic) {
          entry.member = true;
        } else {
          VisitList(value, type, entry);
        }
        return;
      case Type::Shape::kInvalid:
        errors_.Add({}, kInvalidAtom);
    }
  }

  const Errors& errors() const { return errors_; }

 private:
  bool TooDeep() {
    if (depth_ < FieldSet::kDepthMax) return false;
    errors_.Add({}, kTooDeep);
    return true;
  }

  void VisitMap(const Value& value, const Type& type, Entry& entry) {
    if (value.members().empty() || TooDeep()) return;
    ++depth_;
    const std::size_t mark = out_.Mark();
    for (const Member& member : value.members()) {
      bool declared = false;
      const Type* const field = type.FieldType(member.key, declared);
      Entry child;
      child.element = PathElement::FieldName(member.key);
      Visit(member.value, field == nullptr ? TypeGraph::Invalid() : *field, child);
      // Fields of a struct are owned by their content; a member that the schema does not name is an
      // item.
      if (!declared || member.value.is_null() ||
          (member.value.is_map() && member.value.size() == 0)) {
        child.member = true;
      }
      out_.Add(child);
    }
    entry.children = out_.Finish(mark);
    --depth_;
  }

  void VisitList(const Value& value, const Type& type, Entry& entry) {
    const std::span<const Value> items = value.items();
    if (items.empty() || TooDeep()) return;
    ++depth_;
    const std::size_t mark = out_.Mark();
    std::string error;
    for (const Value& item : items) {
      Entry child;
      // Pruning leaves items without keys; the list is still there.
      ListItemToPathElement(type, item, out_.arena(), child.element, error);
      Visit(item, *type.items, child);
      child.member = true;
      out_.Add(child);
    }
    entry.children = out_.FinishItems(mark);
    --depth_;
  }

  SetBuilder out_;
  Errors errors_;
  std::size_t depth_ = 0;
};

}  // namespace

Result<FieldSet> TypedValue::ToFieldSet(Arena& arena) const {
  Walker walker(arena);
  Entry root;
  walker.Visit(value_, *type_, root);
  if (!walker.errors().empty()) return walker.errors().ToStatus();
  return root.children;
}

}  // namespace apiserver::v0::patch::apply
