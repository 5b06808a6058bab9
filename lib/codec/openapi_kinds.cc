#include "apiserver/codec/openapi_kinds.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "base/status_macros.h"
#include "codec/schema_references.h"

namespace apiserver::v0::codec {
namespace {

using runtime::GroupVersionKind;
using runtime::KindOptions;
using runtime::Member;
using runtime::Schema;
using runtime::SchemaParts;
using runtime::SchemaPool;
using runtime::SchemaPtr;
using runtime::SchemaType;
using runtime::Value;

constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
// The most places of a kind's schema, as whoever walks through it meets them. Real ones have some
// thousands.
constexpr std::size_t kPlacesMax = 1'000'000;
constexpr std::string_view kGvks = "x-kubernetes-group-version-kind";

std::string WordOf(const Value& value) { return std::string(value.AsString()); }

// Returns the schema of a type of Kubernetes whose JSON form its definition does not tell.
SchemaPtr TypeOfKubernetes(std::string_view name) {
  constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";
  if (name == "io.k8s.apimachinery.pkg.api.resource.Quantity") return runtime::QuantitySchema();
  if (name == "io.k8s.apimachinery.pkg.util.intstr.IntOrString") {
    return runtime::IntOrStringSchema();
  }
  if (name == "io.k8s.apimachinery.pkg.runtime.RawExtension") return runtime::AnySchema();
  if (!name.starts_with(kMeta)) return nullptr;
  const std::string_view type = name.substr(kMeta.size());
  if (type == "Time") return runtime::TimeSchema();
  if (type == "MicroTime") return runtime::MicroTimeSchema();
  if (type == "Duration") return runtime::DurationSchema();
  if (type == "FieldsV1") return runtime::AnySchema();
  if (type == "ObjectMeta") return runtime::ObjectMetaSchema();
  return nullptr;
}

// Undoes the escapes of a JSON pointer.
std::string Unescaped(std::string_view text) {
  std::string to;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '~' && i + 1 < text.size();
    if (escape && (text[i + 1] == '0' || text[i + 1] == '1')) {
      to += text[++i] == '0' ? '~' : '/';
    } else {
      to += text[i];
    }
  }
  return to;
}

// Returns the reference of a schema, which v3 writes into an allOf where it has a default beside
// it. Empty: it is none.
std::string_view ReferenceIn(const Value& json) {
  if (const Value direct = json["$ref"]; direct.is_string()) return direct.AsString();
  const Value all = json["allOf"];
  if (all.size() != 1 || json["type"].is_string() || json["properties"].is_map()) return {};
  return all.at(0)["$ref"].AsString();
}

// The definitions of a document, each read when it is first referred to.
class Definitions final : public SchemaReferences {
 public:
  Definitions(const Value& root, SchemaPool& pool) : pool_(pool) {
    const bool v2 = root["swagger"].is_string();
    prefix_ = v2 ? "#/definitions/" : "#/components/schemas/";
    const Value all = v2 ? root["definitions"] : root["components"]["schemas"];
    for (const Member& member : all.members()) {
      entries_[std::string(member.key)].json = member.value;
    }
  }

  Result<Target> Find(const Value& json, int depth) override {
    const std::string_view reference = ReferenceIn(json);
    if (reference.empty()) return Target{};
    if (!reference.starts_with(prefix_)) return LeadsNowhere(reference);
    const std::string name = Unescaped(reference.substr(prefix_.size()));
    if (SchemaPtr known = TypeOfKubernetes(name)) {
      return Target{std::move(known), json["description"].AsString()};
    }
    const auto found = entries_.find(name);
    if (found == entries_.end()) return LeadsNowhere(reference);
    RETURN_IF_ERROR(Load(found->first, found->second, depth));
    const std::string_view own = json["description"].AsString();
    return Target{found->second.schema,
                  own.empty() ? found->second.json["description"].AsString() : own};
  }

  // By name, so that the order of a document does not matter.
  std::map<std::string_view, Value> Sorted() const {
    std::map<std::string_view, Value> sorted;
    for (const auto& [name, entry] : entries_) sorted.emplace(name, entry.json);
    return sorted;
  }

 private:
  struct Entry {
    Value json;
    SchemaPtr schema;  // Null: not read yet.
  };

  static Status LeadsNowhere(std::string_view reference) {
    return {Reason::kInvalid, "the $ref \"" + std::string(reference) + "\" leads nowhere"};
  }

  // The struct of a definition has no description, which is that of the place that refers to it.
  Status Load(const std::string& name, Entry& entry, int depth) {
    if (entry.schema) return {};
    // A reference from within itself finds it open.
    entry.schema = runtime::AnySchema();
    auto schema = SchemaFromDocument(entry.json, pool_, *this, depth + 1);
    if (!schema.ok()) {
      return schema.status().WithMessage(name + ": " + std::string(schema.status().message()));
    }
    SchemaParts parts(**schema);
    if (parts.type == SchemaType::kStruct) parts.name = name;
    parts.description.clear();
    parts.source_description = {};
    entry.schema = pool_.Make(parts);
    return {};
  }

  SchemaPool& pool_;
  std::string_view prefix_;
  std::unordered_map<std::string, Entry> entries_;  // By name.
};

// Counts the places of a schema in which definitions stand as often as something refers to them.
class PlaceCounter {
 public:
  // At most a little over kPlacesMax.
  std::size_t Of(const Schema& schema) {
    const auto [at, first] = counts_.try_emplace(&schema, 1);
    if (!first) return at->second;
    std::size_t count = 1;
    const auto add = [&](const SchemaPtr& child) {
      if (child) count = std::min(count + Of(*child), kPlacesMax + 1);
    };
    for (const runtime::Field& field : schema.fields()) add(field.schema);
    add(schema.items());
    add(schema.members());
    for (const auto& parts : {schema.all_of(), schema.any_of(), schema.one_of()}) {
      for (const SchemaPtr& part : parts) add(part);
    }
    add(schema.not_of());
    return counts_[&schema] = count;
  }

 private:
  std::unordered_map<const Schema*, std::size_t> counts_;
};

// The collection of a kind.
struct Collection {
  std::string plural;
  bool namespaced = true;
};

// Finds the collections in the paths of operations that create or list.
std::map<GroupVersionKind, Collection> CollectionsOf(const Value& paths) {
  std::map<GroupVersionKind, Collection> found;
  for (const Member& path : paths.members()) {
    if (path.key.ends_with('}')) continue;
    const std::size_t last = path.key.rfind('/');
    if (last == std::string_view::npos) continue;
    for (const Member& operation : path.value.members()) {
      const std::string_view action = operation.value["x-kubernetes-action"].AsString();
      if (action != "post" && action != "list") continue;
      const Value gvk = operation.value[kGvks];
      const bool namespaced = path.key.find("/namespaces/{namespace}/") != std::string_view::npos;
      Collection collection{std::string(path.key.substr(last + 1)), namespaced};
      const auto [at, first] = found.try_emplace(
          {WordOf(gvk["group"]), WordOf(gvk["version"]), WordOf(gvk["kind"])}, collection);
      // A list over all namespaces has a path without one.
      if (!first && namespaced) at->second = collection;
    }
  }
  return found;
}

Collection CollectionFor(const std::map<GroupVersionKind, Collection>& all,
                         const GroupVersionKind& gvk) {
  if (const auto found = all.find(gvk); found != all.end()) return found->second;
  Collection usual{gvk.kind + "s"};
  std::transform(usual.plural.begin(), usual.plural.end(), usual.plural.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return usual;
}

bool IsWanted(const GroupVersionKind& gvk, const std::vector<std::string>& kinds) {
  return kinds.empty() || std::ranges::any_of(kinds, [&gvk](const std::string& wanted) {
           return wanted == gvk.kind || wanted == gvk.kind + "." + gvk.group;
         });
}

// Lists have a ListMeta, and options have none.
bool HasObjectMeta(const Value& definition) {
  const Value metadata = definition["properties"]["metadata"];
  return ReferenceIn(metadata).ends_with(kObjectMeta);
}

Result<Value> ParseDocument(std::string_view text, runtime::Arena& arena) {
  return text.starts_with('{') ? ParseJson(arena.Copy(text), arena) : ParseYaml(text, arena);
}

bool IsDocument(const Value& root) {
  return root["openapi"].AsString().starts_with("3.") || root["swagger"].AsString() == "2.0";
}

}  // namespace

bool IsOpenApiDocument(std::string_view text) {
  runtime::Arena arena;
  const auto root = ParseDocument(text, arena);
  return root.ok() && IsDocument(*root);
}

Result<std::vector<KindOptions>> KindOptionsFromOpenApi(std::string_view text,
                                                        const std::vector<std::string>& kinds,
                                                        SchemaPool& pool) {
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value root, ParseDocument(text, arena));
  if (!IsDocument(root)) return Status(Reason::kInvalid, "this is no OpenAPI document");
  Definitions definitions(root, pool);
  const auto collections = CollectionsOf(root["paths"]);
  PlaceCounter places;
  std::vector<KindOptions> found;
  for (const auto& [name, json] : definitions.Sorted()) {
    if (!HasObjectMeta(json)) continue;
    for (const Value& each : json[kGvks].items()) {
      const GroupVersionKind gvk{WordOf(each["group"]), WordOf(each["version"]),
                                 WordOf(each["kind"])};
      if (!IsWanted(gvk, kinds)) continue;
      auto schema = RootSchemaFromDocument(json, pool, definitions);
      if (!schema.ok()) {
        return schema.status().WithMessage(std::string(name) + ": " +
                                           std::string(schema.status().message()));
      }
      if (places.Of(**schema) > kPlacesMax) {
        return Status(Reason::kInvalid, std::string(name) + ": has more than " +
                                            std::to_string(kPlacesMax) +
                                            " fields, counting definitions wherever they are used");
      }
      const Collection collection = CollectionFor(collections, gvk);
      found.push_back({.group = gvk.group,
                       .kind = gvk.kind,
                       .plural = collection.plural,
                       .namespaced = collection.namespaced,
                       .semantics = runtime::Semantics::kCustomResource,
                       .versions = {{.version = gvk.version, .schema = *std::move(schema)}}});
    }
  }
  return found;
}

}  // namespace apiserver::v0::codec
