#include <string>

#include "apiserver/patch/apply/typed.h"

#include "patch/apply/errors.h"
#include "patch/apply/list_items.h"
#include "patch/apply/scalars.h"
#include "patch/apply/type.h"
#include "patch/go_print.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Member;
using runtime::Value;

constexpr std::size_t kVisitDepthMax = 500;

// Follows validatingObjectWalker in structured-merge-diff's typed package.
class Validator {
 public:
  explicit Validator(const ValidationOptions& options) : options_(options) {}

  Status Run(const Value& value, const Type& type) {
    Visit(value, type);
    return errors_.empty() ? Status() : errors_.ToStatus();
  }

 private:
  // Recursion goes no deeper than the schema, since deduced values are not visited. Only the
  // schemas of CustomResourceDefinitions contain themselves: such a deep one is refused later.
  void Visit(const Value& value, const Type& type) {
    if (type.anything || path_.size() > kVisitDepthMax) return;
    switch (type.Deduce(value).shape) {
      case Type::Shape::kMap:
        return VisitMap(value, type);
      case Type::Shape::kScalar:
        if (!IsScalarOf(type.scalar, value)) {
          errors_.Add(path_, ScalarError(type.scalar, value));
        }
        return;
      case Type::Shape::kList:
        return VisitList(value, type);
      case Type::Shape::kInvalid:
        errors_.Add(path_, kInvalidAtom);
    }
  }

  void VisitMap(const Value& value, const Type& type) {
    if (value.is_null()) return;
    if (!value.is_map()) {
      errors_.Add(path_, "expected map, got &{" + PrintGo(value, kShownBytesMax) + "}");
      return;
    }
    for (const Member& member : value.members()) {
      bool declared = false;
      const Type* const field = type.FieldType(member.key, declared);
      if (field != nullptr && IsText(*field, member.value)) continue;
      path_.push_back(PathElement::FieldName(member.key));
      if (field == nullptr) {
        errors_.Add(path_, "field not declared in schema");
      } else {
        Visit(member.value, *field);
      }
      path_.pop_back();
      // As upstream: a map ends at its first unknown field.
      if (field == nullptr) return;
    }
  }

  void VisitList(const Value& value, const Type& type) {
    if (value.is_null()) return;
    if (!value.is_list()) {
      errors_.Add(path_, "expected list, got &{" + PrintGo(value, kShownBytesMax) + "}");
      return;
    }
    if (type.list_atomic) {
      // Values of any content cannot be wrong, and may be large.
      if (type.items->anything) return;
      for (std::size_t i = 0; i < value.size(); ++i) {
        path_.push_back(PathElement::Index(static_cast<std::int64_t>(i)));
        Visit(value.items()[i], *type.items);
        path_.pop_back();
      }
      return;
    }
    VisitItems(value, type);
  }

  void VisitItems(const Value& value, const Type& type) {
    std::vector<PathElement> elements;
    std::string error;
    for (const Value& item : value.items()) {
      PathElement element;
      if (!ListItemToPathElement(type, item, arena_, element, error)) break;
      elements.push_back(element);
    }
    std::vector<bool> seen;
    if (!options_.allow_duplicates) seen.resize(NumberElements(elements, ids_));
    const std::vector<std::uint32_t> ids = std::move(ids_);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (!options_.allow_duplicates) {
        if (seen[ids[i]]) {
          errors_.Add(path_, "duplicate entries for key " + elements[i].ToString());
        }
        seen[ids[i]] = true;
      }
      path_.push_back(elements[i]);
      Visit(value.items()[i], *type.items);
      path_.pop_back();
    }
    if (!error.empty()) {
      errors_.Add(path_, "element " + std::to_string(elements.size()) + ": " + error);
    }
  }

  const ValidationOptions& options_;
  runtime::Arena arena_;
  Path path_;
  std::vector<std::uint32_t> ids_;
  Errors errors_;
};

}  // namespace

Status TypedValue::Validate(const ValidationOptions& options) const {
  return Validator(options).Run(value_, *type_);
}

Result<TypedValue> AsTyped(Value value, const ParseableType& type,
                           const ValidationOptions& options) {
  const TypedValue typed(value, type);
  if (Status status = typed.Validate(options); !status.ok()) return status;
  return typed;
}

}  // namespace apiserver::v0::patch::apply
