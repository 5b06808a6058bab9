#include "aggregator/control/custom_groups.h"

#include <utility>

namespace apiserver::v0::aggregator {
namespace {

constexpr std::int64_t kCustomGroupPriority = 1000;
constexpr std::int64_t kCustomVersionPriority = 100;

}  // namespace

runtime::ObjectPtr CustomGroups::UsedOf(const runtime::ObjectPtr& definition) {
  auto used = std::make_unique<runtime::Object>(definition->kind_ptr(), definition->version());
  for (const char* const member : {"name", "uid", "resourceVersion"}) {
    used->Edit("metadata", member) = std::string(definition->metadata()[member].AsString());
  }
  const runtime::Value spec = (*definition)["spec"];
  used->Edit("spec", "group") = std::string(spec["group"].AsString());
  runtime::Arena& arena = used->arena();
  runtime::ListBuilder versions(arena);
  for (const runtime::Value& version : spec["versions"].items()) {
    runtime::MapBuilder one(arena);
    one.Add("name", runtime::Value::String(arena.Copy(version["name"].AsString())));
    one.Add("served", runtime::Value::Bool(version["served"].AsBool()));
    versions.Add(one.Build());
  }
  used->SetPath({"spec", "versions"}, versions.Build());
  return used;
}

void CustomGroups::Set(const runtime::Object& definition) {
  std::map<std::string, Wanted> next;
  const runtime::Value spec = definition["spec"];
  const std::string group(spec["group"].AsString());
  for (const runtime::Value& version : spec["versions"].items()) {
    if (!version["served"].AsBool()) continue;
    Wanted wanted{.group = group,
                  .version = std::string(version["name"].AsString()),
                  .group_priority = kCustomGroupPriority,
                  .version_priority = kCustomVersionPriority};
    std::string name = wanted.version + "." + group;
    next.emplace(std::move(name), std::move(wanted));
  }
  Replace(std::string(definition.name()), std::move(next));
}

void CustomGroups::Remove(const std::string& name) { Replace(name, {}); }

void CustomGroups::Replace(const std::string& name, std::map<std::string, Wanted> next) {
  std::map<std::string, Wanted>& present = of_definitions_[name];
  for (const auto& [service, wanted] : next) {
    if (present.contains(service)) continue;
    if (++uses_[service] == 1) registration_.Want(wanted);
  }
  for (const auto& [service, wanted] : present) {
    if (next.contains(service)) continue;
    if (--uses_[service] > 0) continue;
    uses_.erase(service);
    registration_.WantNot(service);
  }
  present = std::move(next);
  if (present.empty()) of_definitions_.erase(name);
}

}  // namespace apiserver::v0::aggregator
