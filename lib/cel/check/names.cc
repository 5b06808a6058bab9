#include "cel/check/names.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <vector>

#include "apiserver/cel/names.h"
#include "cel/check/named_types.h"
#include "cel/types/spell.h"

namespace apiserver::inline v0::cel::check {
namespace {

using types::kInt;
using types::kTypeOf;

std::string_view FirstWord(std::string_view name) { return name.substr(0, name.find('.')); }

bool IsBelow(std::string_view name, std::string_view parent) {
  return name.size() > parent.size() && name.starts_with(parent) && name[parent.size()] == '.';
}

// Kubernetes' provider of declared types also knows types by the words of OpenAPI. Of those the
// language has no word of its own for the first two.
constexpr std::array<std::string_view, 10> kWords = {"duration", "timestamp", "bool",   "bytes",
                                                     "double",   "int",       "string", "uint",
                                                     "list",     "null_type"};

const TypeNode* FindScalarWord(std::string_view name) {
  if (name == kWords[0]) return &types::kDuration;
  if (name == kWords[1]) return &types::kTimestamp;
  return nullptr;
}

}  // namespace

Names::Named Names::NamedType(const TypeNode& type, const TypeNode& type_of, bool has_value) const {
  using Kind = Reference::Kind;
  Reference reference{.kind = has_value ? Kind::kType : Kind::kTypeName};
  if (has_value) reference.type = solver_.Export(type);
  return {std::move(reference), &type_of};
}

std::optional<Names::Named> Names::Find(std::string_view name) {
  if (const auto index = environment_.FindVariable(name); index.has_value()) {
    return Named{{.kind = Reference::Kind::kVariable, .index = *index},
                 &environment_.variables[*index].type.node()};
  }
  if (const auto* found = FindStandardType(name); found != nullptr) {
    return NamedType(*found->type, *found->type_of, true);
  }
  if (const TypeNode* type = FindDeclared(name); type != nullptr) {
    return NamedType(*type, solver_.TypeOf(*type), false);
  }
  if (const auto* found = FindMessageType(name); found != nullptr) {
    return NamedType(*found->type, *found->type_of, found->has_value);
  }
  const LanguageFeatures& features = environment_.features;
  const bool opaque = name == types::kOptionalName ? features.optionals : features.network_types;
  if (const auto* found = FindOpaqueType(name); found != nullptr && opaque) {
    return NamedType(*found->type, *found->type_of, true);
  }
  if (name == kNullValueName) return Named{{.kind = Reference::Kind::kZero}, &kInt};
  return std::nullopt;
}

bool Names::MayBeDotted(std::string_view first_word) const {
  if (first_word == "google" || first_word == "net") return true;
  const auto begins = [first_word](std::string_view name) { return FirstWord(name) == first_word; };
  return std::any_of(environment_.variables.begin(), environment_.variables.end(),
                     [&](const Variable& each) { return IsBelow(each.name, first_word); }) ||
         std::any_of(environment_.types.begin(), environment_.types.end(),
                     [&](const Type& each) { return begins(each.name()); });
}

const TypeNode* Names::FindDeclared(std::string_view name) {
  if (environment_.types.empty()) return nullptr;
  if (const TypeNode* scalar = FindScalarWord(name); scalar != nullptr) return scalar;
  const std::string_view first_word = FirstWord(name);
  // Types in fields are named after the types that have them, so the index is seldom needed.
  const bool possible =
      std::any_of(environment_.types.begin(), environment_.types.end(),
                  [first_word](const Type& each) { return FirstWord(each.name()) == first_word; });
  if (!possible) return nullptr;
  IndexDeclared();
  if (const auto found = declared_.find(name); found != declared_.end()) return found->second;
  for (const Type& type : environment_.types) {
    if (!type.node().open || !IsBelow(name, type.name())) continue;
    made_.push_back(Type::Struct(StructType{.name = std::string(name), .open = true}));
    declared_.emplace(made_.back().name(), &made_.back().node());
    return &made_.back().node();
  }
  return nullptr;
}

void Names::IndexDeclared() {
  if (std::exchange(indexed_, true)) return;
  std::vector<const TypeNode*> pending;
  for (const Type& type : environment_.types) pending.push_back(&type.node());
  std::unordered_set<const TypeNode*> seen;
  while (!pending.empty()) {
    const TypeNode& node = *pending.back();
    pending.pop_back();
    if (!seen.insert(&node).second) continue;
    pending.insert(pending.end(), node.parameters, node.parameters + node.parameter_count);
    if (node.kind != TypeKind::kStruct) continue;
    declared_.emplace(node.name, &node);
    const Type type(node);
    for (const StructField& field : type.fields()) pending.push_back(&field.type.node());
  }
}

Names::FieldType Names::FindField(std::string_view name, const TypeNode& type,
                                  std::string_view field) const {
  if (const MessageFields* const message = FindMessageFields(name); message != nullptr) {
    for (const MessageField& each : message->fields) {
      if (each.name == field) return {each.type};
    }
    return {};
  }
  // Types of Kubernetes' libraries, which are constants, are declared to no provider.
  if (type.kind != TypeKind::kStruct) {
    const bool word = std::find(kWords.begin(), kWords.end(), name) != kWords.end();
    return {nullptr, word && !environment_.types.empty()};
  }
  if (!type.counted) return {nullptr, false};
  const Type of_struct(type);
  const Type* found = of_struct.FindField(field);
  if (found == nullptr && environment_.features.reserved_field_names && IsReserved(field)) {
    found = of_struct.FindField("__" + std::string(field) + "__");
  }
  return {found == nullptr ? nullptr : &found->node()};
}

}  // namespace apiserver::inline v0::cel::check
