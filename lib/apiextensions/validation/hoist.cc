#include "apiextensions/validation/hoist.h"

#include <algorithm>

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Value;

bool AllEqual(const Value& versions, std::string_view key) {
  const Value first = versions.at(0)[key];
  const auto items = versions.items();
  return std::all_of(items.begin(), items.end(),
                     [&](const Value& version) { return version[key] == first; });
}

}  // namespace

InternalSpec::InternalSpec(const runtime::Object& definition)
    : spec_(definition["spec"]), versions_(spec_["versions"]) {
  if (versions_.size() == 0) return;
  for (const Value& version : versions_.items()) {
    by_name_.emplace(version["name"].AsString(), version);
  }
  hoisted_.schema = AllEqual(versions_, "schema");
  hoisted_.subresources = AllEqual(versions_, "subresources");
  hoisted_.columns = AllEqual(versions_, "additionalPrinterColumns");
  hoisted_.selectable_fields = AllEqual(versions_, "selectableFields");
}

Value InternalSpec::Common(bool hoisted, std::string_view key) const {
  return hoisted ? versions_.at(0)[key] : Value();
}

Value InternalSpec::SubresourcesOf(const Value& version) const {
  // The first version of a name counts, should there be two.
  return hoisted_.subresources ? subresources() : Find(version["name"].AsString())["subresources"];
}

Value InternalSpec::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? Value() : found->second;
}

bool InternalSpec::HasAnyStatus() const {
  const auto items = versions_.items();
  return std::any_of(items.begin(), items.end(), [](const Value& version) {
    return version["subresources"].Find("status") != nullptr;
  });
}

}  // namespace apiserver::v0::apiextensions
