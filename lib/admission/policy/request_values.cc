#include "admission/policy/request_values.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "admission/request_value.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission::policy {

namespace {

using runtime::MapBuilder;
using runtime::Value;

// The members of a Namespace's metadata that expressions see: cel.CreateNamespaceObject.
bool IsNamespaceMember(std::string_view key) {
  static constexpr std::string_view kMembers[] = {
      "name",        "generateName",      "namespace",
      "uid",         "resourceVersion",   "generation",
      "labels",      "creationTimestamp", "deletionTimestamp",
      "annotations", "finalizers",        "deletionGracePeriodSeconds"};
  return std::ranges::find(kMembers, key) != std::end(kMembers);
}

}  // namespace

RequestValues::RequestValues(const NamespaceMatcher& namespaces, const auth::Authorizer* authorizer,
                             const Attributes& attributes)
    : namespaces_(namespaces), attributes_(attributes) {
  if (authorizer) authorizer_.emplace(*authorizer);
}

Result<Variables> RequestValues::For(const Context& ctx, const Matched& matched,
                                     const ReviewObjects& objects, const runtime::Object* params,
                                     const ParamKind* param_kind) {
  RETURN_IF_ERROR(ReadNamespace(ctx));
  Variables variables = ForConditions(matched, objects);
  variables.params = Params(params, param_kind);
  variables.namespace_object = namespace_value_;
  return variables;
}

Variables RequestValues::ForConditions(const Matched& matched, const ReviewObjects& objects) {
  return {.object = Content(objects.object),
          .old_object = Content(objects.old_object),
          .request = Request(matched.resource, matched.kind),
          .condition_request = Request(attributes_.resource, matched.kind),
          .authorizer = authorizer_ ? &*authorizer_ : nullptr,
          .scratch = &scratch_,
          .attributes = &attributes_};
}

Value RequestValues::Content(const runtime::Object* object) {
  if (object == nullptr) return {};
  const auto [at, added] = contents_.try_emplace(object);
  if (added) at->second = ObjectValue(object, arena_);
  return at->second;
}

Value RequestValues::Params(const runtime::Object* params, const ParamKind* kind) {
  if (params == nullptr || kind == nullptr) return {};
  // The kind is that of the policy: items of a list do not name their own.
  MapBuilder map(arena_);
  map.Add("kind", Value::String(kind->kind));
  map.Add("apiVersion", Value::String(kind->api_version));
  for (const runtime::Member& member : params->root().members()) {
    if (member.key != "kind" && member.key != "apiVersion") map.Add(member.key, member.value);
  }
  return map.Build();
}

LateValue RequestValues::Request(const runtime::GroupVersionResource& resource,
                                 const runtime::GroupVersionKind& kind) {
  for (RequestMaker& known : requests_) {
    if (known.Sees(resource, kind)) return LateValue(known);
  }
  return LateValue(requests_.emplace_back(*this, Matched{resource, kind}));
}

Value RequestValues::RequestMaker::Make() {
  MapBuilder map(values_.arena_);
  AddRequestHead(map, values_.attributes_, matched_.resource, matched_.kind, values_.arena_);
  AddRequestTail(map, values_.attributes_, values_.arena_);
  return map.Build();
}

Status RequestValues::ReadNamespace(const Context& ctx) {
  if (std::exchange(namespace_read_, true)) return {};
  // A Namespace has itself as namespace, but is cluster-scoped.
  const runtime::GroupVersionKind of_namespace{"", "v1", "Namespace"};
  if (attributes_.namespace_.empty() || attributes_.kind == of_namespace) return {};
  auto found = namespaces_.Get(ctx, attributes_.namespace_);
  if (!found.ok()) {
    namespace_read_ = false;
    return found.status();
  }
  namespace_ = *std::move(found);
  namespace_value_ = LateValue(namespace_maker_);
  return {};
}

Value RequestValues::NamespaceMaker::Make() {
  const runtime::Object* const found = values_.namespace_.get();
  runtime::Arena& arena = values_.arena_;
  MapBuilder metadata(arena);
  if (found == nullptr) {
    // Without a source, the name is known, and the one label that every namespace has.
    const Value name = Value::String(values_.attributes_.namespace_);
    MapBuilder labels(arena);
    labels.Add("kubernetes.io/metadata.name", name);
    metadata.Add("name", name);
    metadata.Add("labels", labels.Build());
  } else {
    for (const runtime::Member& member : found->metadata().members()) {
      if (IsNamespaceMember(member.key)) metadata.Add(member.key, member.value);
    }
  }
  const auto part = [&](const char* key) {
    const Value value = found == nullptr ? Value() : (*found)[key];
    return value.is_null() ? Value::Map({}) : value;
  };
  MapBuilder map(arena);
  map.Add("metadata", metadata.Build());
  map.Add("spec", part("spec"));
  map.Add("status", part("status"));
  return map.Build();
}

}  // namespace apiserver::v0::admission::policy
