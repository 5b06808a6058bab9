#include "apiserver/controller/handlers.h"

#include <algorithm>
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

bool Passes(const Predicate& predicate, const ObjectPtr& before, const ObjectPtr& now) {
  return !predicate || predicate(before, now);
}

bool IsEmpty(runtime::Value value) {
  return value.is_null() || (value.is_map() && value.size() == 0);
}

// Lets an update pass if it changes this member of the metadata. An absent map equals an empty one.
Predicate MetadataChanged(std::string_view member) {
  return [member](const ObjectPtr& before, const ObjectPtr& now) {
    if (!before || !now) return true;
    const runtime::Value old = (*before)["metadata"][member];
    const runtime::Value current = (*now)["metadata"][member];
    return !(old == current) && !(IsEmpty(old) && IsEmpty(current));
  };
}

}  // namespace

NamespacedName KeyOf(const Object& object) {
  return {std::string(object.namespace_()), std::string(object.name())};
}

client::InformerHandler EnqueueMapped(WorkQueue& queue, KeyMapper mapper, Predicate predicate) {
  const auto change = [&queue, mapper = std::move(mapper), predicate = std::move(predicate)](
                          const ObjectPtr& before, const ObjectPtr& now) {
    if (!Passes(predicate, before, now)) return;
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

Predicate GenerationChanged() { return MetadataChanged("generation"); }
Predicate LabelChanged() { return MetadataChanged("labels"); }
Predicate AnnotationChanged() { return MetadataChanged("annotations"); }
Predicate ResourceVersionChanged() { return MetadataChanged("resourceVersion"); }

Predicate Where(std::function<bool(const Object& object)> filter) {
  return [filter = std::move(filter)](const ObjectPtr& before, const ObjectPtr& now) {
    return filter(now ? *now : *before);
  };
}

Predicate And(std::vector<Predicate> predicates) {
  return [predicates = std::move(predicates)](const ObjectPtr& before, const ObjectPtr& now) {
    return std::ranges::all_of(predicates,
                               [&](const Predicate& each) { return Passes(each, before, now); });
  };
}

Predicate Or(std::vector<Predicate> predicates) {
  return [predicates = std::move(predicates)](const ObjectPtr& before, const ObjectPtr& now) {
    return std::ranges::any_of(predicates,
                               [&](const Predicate& each) { return Passes(each, before, now); });
  };
}

Predicate Not(Predicate predicate) {
  return [predicate = std::move(predicate)](const ObjectPtr& before, const ObjectPtr& now) {
    return !Passes(predicate, before, now);
  };
}

}  // namespace apiserver::v0::controller
