#include "patch/apply/type.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "apiserver/base/field_path.h"

#include "patch/apply/json_schema_type.h"
#include "runtime/field_list.h"
#include "runtime/json_schema.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Field;
using runtime::Schema;
using runtime::SchemaPtr;
using runtime::SchemaType;
using runtime::Value;
using Scalar = Type::Scalar;
using Shape = Type::Shape;

std::size_t Hash(std::string_view name) {
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  // The first and the last eight bytes (they overlap in short names): names differ there, and long
  // ones cost no more.
  const std::size_t size = std::min<std::size_t>(name.size(), 8);
  if (size != 0) {
    std::memcpy(&head, name.data(), size);
    std::memcpy(&tail, name.data() + name.size() - size, size);
  }
  std::uint64_t hash = (head ^ name.size()) * 0x9E3779B97F4A7C15ULL;
  hash = (hash ^ tail ^ (hash >> 29U)) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<std::size_t>(hash ^ (hash >> 32U));
}

}  // namespace

void FieldTable::Set(std::vector<std::pair<std::string_view, const Type*>> fields) {
  fields_ = std::move(fields);
  if (fields_.empty()) return;
  // At most half full, so that a look-up ends after a few slots.
  slots_.assign(std::bit_ceil(fields_.size() * 2), 0);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    std::size_t at = Hash(fields_[i].first);
    while (slots_[at & (slots_.size() - 1)] != 0) ++at;
    slots_[at & (slots_.size() - 1)] = static_cast<std::uint32_t>(i + 1);
  }
}

const Type* FieldTable::Find(std::string_view name) const {
  if (slots_.empty()) return nullptr;
  for (std::size_t at = Hash(name);; ++at) {
    const std::uint32_t slot = slots_[at & (slots_.size() - 1)];
    if (slot == 0) return nullptr;
    if (fields_[slot - 1].first == name) return fields_[slot - 1].second;
  }
}

// Follows deduceAtom and handleAtom: the value's own shape, if the type has it; else a map goes
// before a scalar, and that before a list.
Type::Deduced Type::Deduce(const Value& value) const {
  const bool has_scalar = scalar != Scalar::kNone;
  switch (value.type()) {
    case Value::Type::kNull:
      // A null may stand for any shape; see below.
      break;
    case Value::Type::kList:
      if (list) return {Shape::kList, true};
      break;
    case Value::Type::kMap:
      if (map) return {Shape::kMap, true};
      break;
    case Value::Type::kRaw:
      // Raw JSON is a leaf, whatever it holds.
    case Value::Type::kBool:
    case Value::Type::kInt:
    case Value::Type::kDouble:
    case Value::Type::kString:
    case Value::Type::kBytes:
      if (has_scalar) return {Shape::kScalar, true};
      break;
  }
  const bool one = (has_scalar ? 1 : 0) + (list ? 1 : 0) + (map ? 1 : 0) == 1;
  if (map) return {Shape::kMap, one};
  if (has_scalar) return {Shape::kScalar, one};
  if (list) return {Shape::kList, one};
  return {};
}

const Type& TypeGraph::Invalid() {
  static const Type type;
  return type;
}

const Type& TypeGraph::UntypedAtomic() {
  static const Type type = [] {
    Type made;
    made.scalar = Scalar::kUntyped;
    made.list = made.map = true;
    made.list_atomic = made.map_atomic = true;
    made.anything = true;
    made.has_atomic = true;
    return made;
  }();
  return type;
}

const Type& TypeGraph::Deduced() {
  // It refers to itself, so it must not be copied afterwards.
  static const std::unique_ptr<const Type> type = [] {
    auto made = std::make_unique<Type>(UntypedAtomic());
    made->map_atomic = false;
    made->untyped_deduced_map = true;
    made->items = &UntypedAtomic();
    made->values = made.get();
    return std::unique_ptr<const Type>(std::move(made));
  }();
  return *type;
}

// Makes a TypeGraph from a Schema, without recursion.
class TypeBuilder {
 public:
  explicit TypeBuilder(TypeGraph& graph) : graph_(graph) {}

  const Type* Build(SchemaPtr schema, bool object) {
    const Type* const root = Get(schema.get(), /*preserve=*/false);
    graph_.schemas_.push_back(std::move(schema));
    while (!pending_.empty()) {
      const Work work = pending_.back();
      pending_.pop_back();
      Fill(*work.type, *work.schema, work.preserve, object && work.type == root);
    }
    // Types below a type mostly come later, so going backwards needs few rounds.
    for (bool changed = true; changed;) {
      changed = false;
      for (auto type = graph_.types_.rbegin(); type != graph_.types_.rend(); ++type) {
        if (type->has_atomic || !HasAtomic(*type)) continue;
        type->has_atomic = changed = true;
      }
    }
    return root;
  }

 private:
  struct Work {
    Type* type;
    const Schema* schema;
    bool preserve;
  };

  // `preserve`: the schema around keeps unknown fields; schemas without a name inherit that.
  const Type* Get(const Schema* schema, bool preserve) {
    if (schema == nullptr) return &TypeGraph::Deduced();
    if (runtime::IsJsonSchema(*schema)) return &JsonSchemaType();
    if (schema->type == SchemaType::kAny) return &TypeGraph::Deduced();
    if (schema->type == SchemaType::kRaw) return &TypeGraph::UntypedAtomic();
    preserve = schema->preserve_unknown_fields || (preserve && schema->name().empty());
    Type*& type = made_[{schema, preserve}];
    if (type == nullptr) {
      // Build() fills it, so that nested schemas need no recursion.
      type = &graph_.types_.emplace_back();
      pending_.push_back({type, schema, preserve});
    }
    return type;
  }

  void Fill(Type& type, const Schema& schema, bool preserve, bool object) {
    switch (schema.type) {
      case SchemaType::kStruct:
        FillStruct(type, schema, preserve, object);
        return;
      case SchemaType::kMap:
        type.map = true;
        type.map_atomic = schema.atomic;
        type.values = Get(schema.items().get(), preserve);
        type.untyped_deduced_map =
            type.values == &TypeGraph::Deduced() || IsUntypedInPlace(*schema.items());
        return;
      case SchemaType::kList:
        FillList(type, schema, preserve);
        return;
      default:
        type.scalar = ScalarOf(schema);
    }
  }

  static bool HasAtomic(const Type& type) {
    if ((type.map && type.map_atomic) || (type.list && type.list_atomic)) return true;
    const auto has = [](const Type* part) { return part != nullptr && part->has_atomic; };
    const auto& fields = type.fields.all();
    return has(type.items) || has(type.values) ||
           std::any_of(fields.begin(), fields.end(),
                       [&](const auto& field) { return has(field.second); });
  }

  static Scalar ScalarOf(const Schema& schema) {
    switch (schema.type) {
      case SchemaType::kBoolean:
        return Scalar::kBoolean;
      case SchemaType::kInteger:
      case SchemaType::kNumber:
        return Scalar::kNumeric;
      case SchemaType::kString:
        // As kube-openapi's schemaconv: a string with a format may have other types, too.
        return schema.constraints().format().empty() ? Scalar::kString : Scalar::kUntyped;
      case SchemaType::kBytes:
      case SchemaType::kDuration:
        return Scalar::kString;
      default:
        return Scalar::kUntyped;
    }
  }

  static bool IsUntypedInPlace(const Schema& schema) {
    return schema.name().empty() && schema.type != SchemaType::kStruct &&
           schema.type != SchemaType::kMap && schema.type != SchemaType::kList &&
           schema.type != SchemaType::kRaw && ScalarOf(schema) == Scalar::kUntyped;
  }

  void FillStruct(Type& type, const Schema& schema, bool preserve, bool object) {
    type.map = true;
    type.map_atomic = schema.atomic;
    std::vector<std::pair<std::string_view, const Type*>> fields;
    const auto add = [&fields](std::string_view name, const Type* field) {
      const auto same = [name](const auto& other) { return other.first == name; };
      if (std::none_of(fields.begin(), fields.end(), same)) fields.emplace_back(name, field);
    };
    const runtime::FieldList list(schema);
    for (std::size_t i = 0; i < list.size(); ++i) {
      fields.emplace_back(list[i].name(), Get(list[i].schema.get(), preserve));
    }
    // A struct without any declared fields may have all.
    if (preserve || fields.empty()) type.values = &TypeGraph::Deduced();
    type.untyped_deduced_map = type.values != nullptr && fields.empty();
    if (object || schema.embedded_resource) {
      add("apiVersion", StringType());
      add("kind", StringType());
    }
    if (schema.embedded_resource) add("metadata", MetadataType());
    type.fields.Set(std::move(fields));
  }

  void FillList(Type& type, const Schema& schema, bool preserve) {
    type.list = true;
    type.items = schema.items() == nullptr ? &TypeGraph::UntypedAtomic()
                                           : Get(schema.items().get(), preserve);
    // As in kube-openapi's schemaconv, markers for strategic merge patches stand in for a list
    // type.
    const bool merged =
        schema.patch_strategy() == "merge" || schema.patch_strategy() == "merge,retainKeys";
    std::vector<std::string_view> keys;
    if (schema.list_type == Schema::ListType::kMap) {
      keys = schema.list_map_keys();
    } else if (schema.list_type == Schema::ListType::kAtomic && merged &&
               !schema.patch_merge_key().empty()) {
      keys.emplace_back(schema.patch_merge_key());
    }
    type.list_atomic = schema.list_type == Schema::ListType::kAtomic && !merged;
    type.keys_quoted = "[";
    for (const std::string_view key : keys) {
      if (type.keys_quoted.size() > 1) type.keys_quoted += ' ';
      type.keys_quoted += field::Quote(key);
      type.keys.push_back({key, DefaultOf(schema.items().get(), key)});
    }
    type.keys_quoted += ']';
    std::stable_sort(type.keys.begin(), type.keys.end(),
                     [](const Type::Key& a, const Type::Key& b) { return a.name < b.name; });
  }

  // The key that upstream gives an item without it: its default, or the zero value of Go's types.
  const Value* DefaultOf(const Schema* item, std::string_view key) {
    if (item == nullptr || item->type != SchemaType::kStruct) return nullptr;
    const Field* const field = item->FindField(key);
    if (field == nullptr) return nullptr;
    if (field->default_value() != nullptr) {
      const Value value = *field->default_value();
      return value.is_null() ? nullptr : &defaults().emplace_back(value);
    }
    if (field->presence != Field::Presence::kValue || field->omit != Field::Omit::kNever) {
      return nullptr;
    }
    switch (field->schema->type) {
      case SchemaType::kString:
        return &defaults().emplace_back(Value::String(""));
      case SchemaType::kInteger:
      case SchemaType::kNumber:
        return &defaults().emplace_back(Value::Int(0));
      case SchemaType::kBoolean:
        return &defaults().emplace_back(Value::Bool(false));
      default:
        return nullptr;
    }
  }

  std::deque<Value>& defaults() { return graph_.defaults_; }

  const Type* StringType() {
    if (string_ == nullptr) {
      string_ = &graph_.types_.emplace_back();
      string_->scalar = Scalar::kString;
    }
    return string_;
  }

  const Type* MetadataType() {
    SchemaPtr schema = runtime::ObjectMetaSchema();
    const Type* const type = Get(schema.get(), /*preserve=*/false);
    graph_.schemas_.push_back(std::move(schema));
    return type;
  }

  TypeGraph& graph_;
  std::map<std::pair<const Schema*, bool>, Type*> made_;
  std::vector<Work> pending_;
  Type* string_ = nullptr;
};

std::shared_ptr<const TypeGraph> TypeGraph::Of(SchemaPtr schema, bool object) {
  auto graph = std::make_shared<TypeGraph>();
  graph->root_ = TypeBuilder(*graph).Build(std::move(schema), object);
  return graph;
}

ParseableType::ParseableType() : type_(&TypeGraph::Deduced()) {}

ParseableType::ParseableType(SchemaPtr schema) : ParseableType() {
  if (schema == nullptr) return;
  graph_ = TypeGraph::Of(std::move(schema), /*object=*/false);
  type_ = &graph_->root();
}

ParseableType ParseableType::ForObject(SchemaPtr schema) {
  ParseableType type;
  if (schema == nullptr) return type;
  type.graph_ = TypeGraph::Of(std::move(schema), /*object=*/true);
  type.type_ = &type.graph_->root();
  return type;
}

}  // namespace apiserver::v0::patch::apply
