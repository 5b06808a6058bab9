#include "admission/request_value.h"

#include <string>
#include <vector>

#include "meta/propagation_name.h"

namespace apiserver::v0::admission {

namespace {

using runtime::Arena;
using runtime::MapBuilder;
using runtime::Value;

Value KindValue(const runtime::GroupVersionKind& kind, Arena& arena) {
  MapBuilder map(arena);
  map.Add("group", Value::String(kind.group));
  map.Add("version", Value::String(kind.version));
  map.Add("kind", Value::String(kind.kind));
  return map.Build();
}

Value ResourceValue(const runtime::GroupVersionResource& resource, Arena& arena) {
  MapBuilder map(arena);
  map.Add("group", Value::String(resource.group));
  map.Add("version", Value::String(resource.version));
  map.Add("resource", Value::String(resource.resource));
  return map.Build();
}

void AddText(MapBuilder& map, std::string_view key, std::string_view text) {
  // Go's JSON tags say omitempty for these.
  if (!text.empty()) map.Add(key, Value::String(text));
}

Value TextsValue(const std::vector<std::string>& texts, Arena& arena) {
  runtime::ListBuilder list(arena);
  for (const std::string& text : texts) list.Add(Value::String(text));
  return list.Build();
}

Value UserValue(const auth::UserInfo* user, Arena& arena) {
  MapBuilder map(arena);
  if (user == nullptr) return map.Build();
  AddText(map, "username", user->name);
  AddText(map, "uid", user->uid);
  if (!user->groups.empty()) map.Add("groups", TextsValue(user->groups, arena));
  if (!user->extra.empty()) {
    MapBuilder extra(arena);
    for (const auto& [key, values] : user->extra) extra.Add(key, TextsValue(values, arena));
    map.Add("extra", extra.Build());
  }
  return map.Build();
}

Value DryRunValue(Arena& arena) {
  runtime::ListBuilder list(arena);
  list.Add(Value::String("All"));
  return list.Build();
}

MapBuilder OptionsHead(std::string_view kind, Arena& arena) {
  MapBuilder map(arena);
  map.Add("kind", Value::String(kind));
  map.Add("apiVersion", Value::String("meta.k8s.io/v1"));
  return map;
}

Value DeleteOptionsValue(const meta::DeleteOptions& options, Arena& arena) {
  MapBuilder map = OptionsHead("DeleteOptions", arena);
  if (options.grace_period_seconds) {
    map.Add("gracePeriodSeconds", Value::Int(*options.grace_period_seconds));
  }
  MapBuilder preconditions(arena);
  if (options.preconditions.uid) AddText(preconditions, "uid", *options.preconditions.uid);
  if (options.preconditions.resource_version) {
    AddText(preconditions, "resourceVersion", *options.preconditions.resource_version);
  }
  if (preconditions.size() > 0) map.Add("preconditions", preconditions.Build());
  if (options.orphan_dependents) {
    map.Add("orphanDependents", Value::Bool(*options.orphan_dependents));
  }
  AddText(map, "propagationPolicy", meta::PropagationName(options.propagation_policy));
  if (options.dry_run) map.Add("dryRun", DryRunValue(arena));
  if (options.ignore_store_read_error) {
    map.Add("ignoreStoreReadErrorWithClusterBreakingPotential", Value::Bool(true));
  }
  return map.Build();
}

Value OptionsValue(const Attributes& attributes, Arena& arena) {
  if (const auto* deletion = std::get_if<meta::DeleteOptions>(&attributes.options)) {
    return DeleteOptionsValue(*deletion, arena);
  }
  const auto* options = std::get_if<meta::CreateOptions>(&attributes.options);
  if (options == nullptr) return {};
  const bool update = attributes.operation == Operation::kUpdate;
  MapBuilder map = OptionsHead(update ? "UpdateOptions" : "CreateOptions", arena);
  if (options->dry_run) map.Add("dryRun", DryRunValue(arena));
  AddText(map, "fieldManager", options->field_manager);
  // Warn is the default; whether the client has set it is not known here.
  if (options->field_validation == meta::FieldValidation::kStrict) {
    map.Add("fieldValidation", Value::String("Strict"));
  } else if (options->field_validation == meta::FieldValidation::kIgnore) {
    map.Add("fieldValidation", Value::String("Ignore"));
  }
  return map.Build();
}

}  // namespace

// The texts live as long as the object: only kind and apiVersion are copied.
Value ObjectValue(const runtime::Object* object, Arena& arena) {
  if (object == nullptr) return {};
  const runtime::GroupVersionKind gvk = object->gvk();
  MapBuilder map(arena);
  map.Add("kind", Value::String(arena.Copy(gvk.kind)));
  map.Add("apiVersion", Value::String(arena.Copy(gvk.group_version().ToString())));
  for (const runtime::Member& member : object->root().members()) map.Add(member.key, member.value);
  return map.Build();
}

void AddRequestHead(MapBuilder& map, const Attributes& attributes,
                    const runtime::GroupVersionResource& resource,
                    const runtime::GroupVersionKind& kind, Arena& arena) {
  map.Add("kind", KindValue(kind, arena));
  map.Add("resource", ResourceValue(resource, arena));
  AddText(map, "subResource", attributes.subresource);
  // The webhook gets its own version above and the client's here, so that it can tell a converted
  // object.
  map.Add("requestKind", KindValue(attributes.kind, arena));
  map.Add("requestResource", ResourceValue(attributes.resource, arena));
  AddText(map, "requestSubResource", attributes.subresource);
  AddText(map, "name", attributes.name);
  AddText(map, "namespace", attributes.namespace_);
  map.Add("operation", Value::String(OperationName(attributes.operation)));
  map.Add("userInfo", UserValue(attributes.user, arena));
}

void AddRequestTail(MapBuilder& map, const Attributes& attributes, Arena& arena) {
  map.Add("dryRun", Value::Bool(attributes.dry_run));
  map.Add("options", OptionsValue(attributes, arena));
}

}  // namespace apiserver::v0::admission
