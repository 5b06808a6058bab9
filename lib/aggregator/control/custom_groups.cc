#include "aggregator/control/custom_groups.h"

#include <utility>

namespace apiserver::v0::aggregator {
namespace {

constexpr std::int64_t kCustomGroupPriority = 1000;
constexpr std::int64_t kCustomVersionPriority = 100;

}  // namespace

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
