#include "apiserver/patch/apply/typed.h"

#include "patch/apply/list_items.h"
#include "patch/apply/type.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;
using Entry = FieldSet::Entry;

// Removes the items of a set from a value, or everything else.
class Remover {
 public:
  Remover(bool extract, Arena& arena) : extract_(extract), arena_(arena) {}

  Value Visit(const Value& value, FieldSet items, const Type& type) {
    // Only a value that is extracted whole gets this deep; it stays as it is.
    if (depth_ > FieldSet::kDepthMax) return value;
    ++depth_;
    const Value result = VisitShape(value, items, type);
    --depth_;
    return result;
  }

 private:
  Value VisitShape(const Value& value, FieldSet items, const Type& type) {
    switch (type.Deduce(value).shape) {
      case Type::Shape::kMap:
        if (!value.is_map()) return {};
        if (value.members().empty() || type.map_atomic) return extract_ ? value : Value();
        return VisitMap(value, items, type);
      case Type::Shape::kList:
        if (!value.is_list()) return {};
        if (value.items().empty() || type.list_atomic) return extract_ ? value : Value();
        return VisitList(value, items, type);
      case Type::Shape::kScalar:
        return value;
      case Type::Shape::kInvalid:
        return {};
    }
    return {};
  }

  Value VisitMap(const Value& value, FieldSet items, const Type& type) {
    runtime::MapBuilder out(arena_);
    for (const Member& member : value.members()) {
      const Entry* const entry = items.Find(PathElement::FieldName(member.key));
      bool declared = false;
      const Type* field = type.FieldType(member.key, declared);
      if (field == nullptr) field = &TypeGraph::Invalid();
      if (entry != nullptr && entry->member) {
        // Upstream looks for the same items below; leaves have nothing below.
        if (extract_) out.Add(member.key, Visit(member.value, items, *field));
      } else if (entry != nullptr) {
        out.Add(member.key, Visit(member.value, entry->children, *field));
      } else if (!extract_) {
        out.Add(member.key, member.value);
      }
    }
    return out.size() == 0 ? Value() : out.Build();
  }

  Value VisitList(const Value& value, FieldSet items, const Type& type) {
    runtime::ListBuilder out(arena_);
    std::string error;
    for (const Value& item : value.items()) {
      PathElement element;
      ListItemToPathElement(type, item, arena_, element, error);
      const Entry* const entry = items.Find(element);
      const bool below = entry != nullptr && !entry->children.Empty();
      if (entry == nullptr ? extract_ : entry->member && !extract_) continue;
      out.Add(below ? Visit(item, entry->children, *type.items) : item);
    }
    return out.size() == 0 ? Value() : out.Build();
  }

  bool extract_;
  Arena& arena_;
  std::size_t depth_ = 0;
};

// Returns the keys of the list items on the way to those members of `items` that are in `present`.
FieldSet KeyFields(FieldSet items, FieldSet present, Arena& arena) {
  std::vector<Path> paths;
  items.Iterate([&](PathView path) {
    if (!present.Has(path)) return;
    for (std::size_t i = 0; i < path.size(); ++i) {
      for (const Member& field : path[i].key()) {
        Path key(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        key.push_back(PathElement::FieldName(field.key));
        paths.push_back(std::move(key));
      }
    }
  });
  FieldSet keys;
  for (const Path& path : paths) {
    if (!keys.Has(path)) keys = keys.Insert(path, arena);
  }
  return keys;
}

}  // namespace

TypedValue TypedValue::RemoveItems(FieldSet items, Arena& arena) const {
  return {Remover(/*extract=*/false, arena).Visit(value_, items, *type_), *type_};
}

TypedValue TypedValue::ExtractItems(FieldSet items, Arena& arena,
                                    const ExtractOptions& options) const {
  if (options.append_key_fields) {
    if (const auto present = ToFieldSet(arena); present.ok()) {
      items = items.Union(KeyFields(items, *present, arena), arena);
    }
  }
  return {Remover(/*extract=*/true, arena).Visit(value_, items, *type_), *type_};
}

}  // namespace apiserver::v0::patch::apply
