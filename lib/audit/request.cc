#include "apiserver/audit/request.h"

#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/runtime/value.h"

namespace apiserver::v0::audit {

namespace {

using runtime::Value;

// The URL's values win over those of the object.
void Fill(std::string& field, const std::string& value) {
  if (field.empty()) field = value;
}

// managedFields are often larger than the rest of the object, hence `omitManagedFields`.
Value ObjectWithoutOwners(Value object, runtime::Arena& arena) {
  const Value metadata = object["metadata"];
  if (metadata["managedFields"].is_null()) return object;
  return runtime::With(object, "metadata", runtime::Without(metadata, "managedFields", arena),
                       arena);
}

// Returns `object` without managedFields, also in the items of a list and the objects in the rows
// of a Table.
Value WithoutOwners(Value object, runtime::Arena& arena) {
  object = ObjectWithoutOwners(object, arena);
  if (object["items"].is_list()) {
    runtime::ListBuilder items(arena);
    for (const Value item : object["items"].items()) items.Add(ObjectWithoutOwners(item, arena));
    object = runtime::With(object, "items", items.Build(), arena);
  }
  if (object["rows"].is_list() && object["kind"].AsString() == "Table") {
    runtime::ListBuilder rows(arena);
    for (const Value row : object["rows"].items()) {
      const Value of = ObjectWithoutOwners(row["object"], arena);
      rows.Add(row["object"].is_map() ? runtime::With(row, "object", of, arena) : row);
    }
    object = runtime::With(object, "rows", rows.Build(), arena);
  }
  return object;
}

// Returns the JSON to record. Null: it is not recorded.
JsonPtr Recorded(const Context& ctx, std::string json) {
  while (json.ends_with('\n')) json.pop_back();
  // The annotation tells a reader of the log that an object is missing.
  if (json.size() > kObjectBytesMax) {
    LogObjectTooLarge(ctx);
    return nullptr;
  }
  if (AuditContextFrom(ctx)->config().omit_managed_fields) {
    runtime::Arena arena;
    const auto object = codec::ParseJson(json, arena);
    // It cannot be shortened as the policy demands, so it is not recorded at all.
    if (!object.ok()) return nullptr;
    std::string shorter;
    codec::AppendJson(WithoutOwners(*object, arena), shorter);
    json = std::move(shorter);
  }
  return std::make_shared<const std::string>(std::move(json));
}

}  // namespace

bool WantsRequestObject(const Context& ctx) { return LevelOf(ctx) >= Level::kRequest; }

bool WantsResponseObject(const Context& ctx) { return LevelOf(ctx) >= Level::kRequestResponse; }

// `json` is a function, since most levels record no body and need not encode it.
void LogRequestObject(const Context& ctx, const ObjectReference& about,
                      const std::function<std::string()>& json) {
  if (LevelOf(ctx) < Level::kMetadata) return;
  JsonPtr object;
  if (WantsRequestObject(ctx)) object = Recorded(ctx, json());
  AuditContextFrom(ctx)->Visit([&](Event& event) {
    if (!event.object_ref) event.object_ref.emplace();
    ObjectReference& ref = *event.object_ref;
    Fill(ref.namespace_, about.namespace_);
    Fill(ref.name, about.name);
    Fill(ref.uid, about.uid);
    Fill(ref.resource_version, about.resource_version);
    // Group and version belong together: both come from the URL, or none does.
    if (ref.api_version.empty()) {
      ref.api_group = about.api_group;
      ref.api_version = about.api_version;
    }
    Fill(ref.resource, about.resource);
    Fill(ref.subresource, about.subresource);
    event.request_object = std::move(object);
  });
}

void LogRequestPatch(const Context& ctx, std::string json) {
  if (!WantsRequestObject(ctx)) return;
  JsonPtr patch;
  while (json.ends_with('\n')) json.pop_back();
  if (json.size() > kObjectBytesMax) {
    LogObjectTooLarge(ctx);
  } else {
    patch = std::make_shared<const std::string>(std::move(json));
  }
  AuditContextFrom(ctx)->Visit([&](Event& event) { event.request_object = std::move(patch); });
}

// A create with generateName has no name in its URL; the stored object has it.
void LogCreatedName(const Context& ctx, const std::function<std::string()>& name) {
  if (LevelOf(ctx) < Level::kMetadata) return;
  AuditContextFrom(ctx)->Visit([&](Event& event) {
    if (event.object_ref && event.object_ref->name.empty()) event.object_ref->name = name();
  });
}

void LogResponseStatus(const Context& ctx, ResponseStatus status) {
  if (LevelOf(ctx) < Level::kMetadata) return;
  AuditContextFrom(ctx)->Visit([&](Event& event) { event.response_status = std::move(status); });
}

void LogResponseObject(const Context& ctx, std::string json) {
  if (!WantsResponseObject(ctx)) return;
  JsonPtr object = Recorded(ctx, std::move(json));
  AuditContextFrom(ctx)->Visit([&](Event& event) { event.response_object = std::move(object); });
}

void LogObjectTooLarge(const Context& ctx) { AddAnnotation(ctx, "audit.k8s.io/truncated", "true"); }

}  // namespace apiserver::v0::audit
