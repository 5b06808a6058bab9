// The definitions of types that all servers have, in the words of Kubernetes: clients show them to
// people, and compare them.

#include <string>
#include <utility>

#include "apiserver/codec/json.h"
#include "openapi/definitions.h"

namespace apiserver::v0::openapi {

namespace {

using runtime::Member;
using runtime::Value;

// Each definition is a member of this object in the form of v3. They are those that kube-apiserver
// 1.35.4 publishes for custom resources, and for discovery.
constexpr std::string_view kSharedDefinitions =
#include "openapi/meta_definitions.inc"
    ;

constexpr std::string_view kV3Place = "#/components/schemas/";
constexpr std::string_view kGvks = "x-kubernetes-group-version-kind";
// The types of which all groups have a kind, as metav1.AddToGroupVersion registers it.
constexpr std::string_view kDeleteOptions = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
constexpr std::string_view kWatchEvent = "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent";

}  // namespace

Value Definitions::SharedDefinition(std::string_view name) {
  if (shared_.is_null()) {
    if (auto parsed = codec::ParseJson(kSharedDefinitions, tree_.arena()); parsed.ok()) {
      shared_ = *parsed;
    }
  }
  return shared_[name];
}

// Recurses over the library's own definitions, which are few levels deep.
Value Definitions::InForm(Value shared) {
  if (shared.is_list()) {
    runtime::ListBuilder list(tree_.arena());
    for (const Value& item : shared.items()) list.Add(InForm(item));
    return list.Build();
  }
  if (!shared.is_map()) return shared;
  runtime::MapBuilder map(tree_.arena());
  for (const Member& member : shared.members()) {
    // kubectl would misread defaults in v2, where a reference may have siblings instead.
    if (format_ == Format::kV2 && member.key == "default") continue;
    const Value value = InForm(member.value);
    if (member.key == "$ref") {
      const std::string_view target = value.AsString().substr(kV3Place.size());
      AddShared(target);
      map.Add("$ref", tree_.Ref(target, format_)["$ref"]);
    } else if (format_ == Format::kV2 && member.key == "allOf") {
      map.Add("$ref", value.at(0)["$ref"]);
    } else {
      map.Add(member.key, value);
    }
  }
  return map.Build();
}

bool Definitions::AddShared(std::string_view name) {
  const Value shared = SharedDefinition(name);
  if (!shared.is_map()) return false;
  // Reserved first: it may refer to itself.
  if (definitions_.emplace(name, Value()).second) {
    definitions_[std::string(name)] = InForm(shared);
  }
  return true;
}

void Definitions::SetGvks(std::string_view name,
                          const std::vector<runtime::GroupVersionKind>& gvks) {
  const auto found = definitions_.find(name);
  if (found == definitions_.end()) return;
  found->second = runtime::With(found->second, kGvks, Gvks(gvks), tree_.arena());
}

void AddMetaDefinitions(const std::set<std::string>& wanted, Definitions& definitions) {
  // A document has only the definitions that its routes refer to.
  for (const std::string& name : wanted) definitions.AddShared(name);
}

void SetGroupsOfMetaKinds(const std::vector<runtime::GroupVersion>& group_versions,
                          Definitions& definitions) {
  for (const auto& [name, kind] :
       {std::pair(kDeleteOptions, "DeleteOptions"), std::pair(kWatchEvent, "WatchEvent")}) {
    std::vector<runtime::GroupVersionKind> gvks{{"", "v1", kind}};
    for (const runtime::GroupVersion& gv : group_versions) {
      if (!gv.group.empty()) gvks.push_back({gv.group, gv.version, kind});
    }
    definitions.SetGvks(name, gvks);
  }
}

}  // namespace apiserver::v0::openapi
