#include "apiserver/controller/handlers.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace apiserver::v0::controller {
namespace {

using runtime::Object;
using runtime::ObjectPtr;

// "wardle.example.com/v1alpha1" is of the group "wardle.example.com", "v1" of the legacy group.
std::string_view GroupOf(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

std::vector<NamespacedName> OwnersOf(const Object& object, const OwnerOptions& options) {
  std::vector<NamespacedName> owners;
  for (const runtime::Value& reference : object["metadata"]["ownerReferences"].items()) {
    if (options.controllers_only && !reference["controller"].AsBool()) continue;
    if (reference["kind"].AsString() != options.kind.kind) continue;
    if (GroupOf(reference["apiVersion"].AsString()) != options.kind.group) continue;
    owners.push_back({options.cluster_scoped ? std::string() : std::string(object.namespace_()),
                      std::string(reference["name"].AsString())});
  }
  return owners;
}

}  // namespace

NamespacedName KeyOf(const Object& object) {
  return {std::string(object.namespace_()), std::string(object.name())};
}

client::InformerHandler EnqueueMapped(WorkQueue& queue, KeyMapper mapper, Predicate predicate) {
  const auto change = [&queue, mapper = std::move(mapper), predicate = std::move(predicate)](
                          const ObjectPtr& before, const ObjectPtr& now) {
    if (predicate && !predicate(before, now)) return;
    for (const ObjectPtr& object : {before, now}) {
      if (!object) continue;
      for (NamespacedName& key : mapper(object)) queue.Add(std::move(key));
    }
  };
  return {.on_add = [change](const ObjectPtr& object) { change(nullptr, object); },
          .on_update = change,
          .on_delete = [change](const ObjectPtr& object) { change(object, nullptr); }};
}

client::InformerHandler EnqueueObject(WorkQueue& queue, Predicate predicate) {
  const auto key = [](const ObjectPtr& object) { return std::vector{KeyOf(*object)}; };
  return EnqueueMapped(queue, key, std::move(predicate));
}

client::InformerHandler EnqueueOwner(WorkQueue& queue, OwnerOptions options, Predicate predicate) {
  return EnqueueMapped(
      queue,
      [options = std::move(options)](const ObjectPtr& object) {
        return OwnersOf(*object, options);
      },
      std::move(predicate));
}

Predicate GenerationChanged() {
  return [](const ObjectPtr& before, const ObjectPtr& now) {
    if (!before || !now) return true;
    return !((*before)["metadata"]["generation"] == (*now)["metadata"]["generation"]);
  };
}

}  // namespace apiserver::v0::controller
