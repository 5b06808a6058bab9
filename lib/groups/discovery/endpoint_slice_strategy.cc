#include "groups/discovery/endpoint_slice_strategy.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/meta/validation.h"
#include "groups/columns.h"
#include "groups/core/address_checks.h"
#include "groups/discovery/endpoint_slice_validation.h"
#include "groups/map_edit.h"

namespace apiserver::v0::groups::discovery {
namespace {

using field::Path;
using runtime::Object;
using runtime::Value;
using Warnings = std::vector<std::string>;

constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";

// The nodes that stored endpoints name as v1beta1 did.
std::set<std::string_view> NodesOfTopology(const Object* old) {
  std::set<std::string_view> nodes;
  if (old == nullptr) return nodes;
  for (const Value& endpoint : (*old)["endpoints"].items()) {
    const Value node = endpoint["deprecatedTopology"][kHostnameLabel];
    if (node.size() != 0) nodes.insert(node.AsString());
  }
  return nodes;
}

// Drops what v1 may not write. A node that stored endpoints name there becomes a nodeName.
void DropTopology(Object& slice, const Object* old) {
  const std::set<std::string_view> nodes = NodesOfTopology(old);
  MapEdit root(slice.root(), slice.arena());
  root.Items("endpoints", [&](MapEdit& endpoint) {
    const Value node = endpoint["deprecatedTopology"][kHostnameLabel];
    if (endpoint["nodeName"].is_null() && nodes.count(node.AsString()) != 0 &&
        meta::IsDNS1123Subdomain(node.AsString()).empty()) {
      endpoint.Set("nodeName", node);
    }
    if (!endpoint["deprecatedTopology"].is_null()) endpoint.Erase("deprecatedTopology");
  });
  if (root.changed()) slice.SetRoot(root.Build());
}

// True if anything but metadata differs, or a label.
bool IsAnother(const Object& slice, const Object& old) {
  for (const char* const key : {"addressType", "endpoints", "ports"}) {
    if (!(slice[key] == old[key])) return true;
  }
  return !(slice.labels() == old.labels());
}

// Controllers of Kubernetes write canonical addresses only.
bool IsOfController(const Object& slice) {
  const std::string_view by = slice.labels()["endpointslice.kubernetes.io/managed-by"].AsString();
  return by == "endpointslice-controller.k8s.io" ||
         by == "endpointslicemirroring-controller.k8s.io";
}

Warnings WarningsOfAddresses(const Object& slice) {
  Warnings warnings;
  if (IsOfController(slice)) return warnings;
  const Value endpoints = slice["endpoints"];
  for (std::size_t i = 0; i < endpoints.items().size(); ++i) {
    const Value addresses = endpoints.at(i)["addresses"];
    const Path path = Path("endpoints").Index(i).Child("addresses");
    for (std::size_t j = 0; j < addresses.items().size(); ++j) {
      core::WarnOfIp(warnings, path.Index(j), addresses.at(j).AsString());
    }
  }
  return warnings;
}

// Follows pkg/registry/discovery/endpointslice/strategy.go.
class EndpointSliceStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  void PrepareForCreate(const Context& /*ctx*/, Object& slice) const override {
    slice.Edit("metadata", "generation") = 1;
    DropTopology(slice, nullptr);
  }
  void PrepareForUpdate(const Context& /*ctx*/, Object& slice, const Object& old) const override {
    if (IsAnother(slice, old)) slice.Edit("metadata", "generation") = old.generation() + 1;
    if (!(slice["endpoints"] == old["endpoints"])) DropTopology(slice, &old);
  }
  field::ErrorList Validate(const Context& /*ctx*/, const Object& slice) const override {
    return ValidateEndpointSlice(slice, nullptr);
  }
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& slice,
                                  const Object& old) const override {
    return ValidateEndpointSlice(slice, &old);
  }
  Warnings WarningsOnCreate(const Context& /*ctx*/, const Object& slice) const override {
    Warnings warnings;
    if (slice["addressType"].AsString() == "FQDN") {
      warnings.emplace_back("spec.addressType: FQDN endpoints are deprecated");
    }
    for (std::string& warning : WarningsOfAddresses(slice)) warnings.push_back(std::move(warning));
    return warnings;
  }
  Warnings WarningsOnUpdate(const Context& /*ctx*/, const Object& slice,
                            const Object& /*old*/) const override {
    return WarningsOfAddresses(slice);
  }
};

std::string PortsText(const Object& slice) {
  ShortList list;
  for (const Value& port : slice["ports"].items()) {
    const Value name = port["name"];
    list.Add(!port["port"].is_null() ? std::to_string(port["port"].AsInt())
             : !name.is_null()       ? std::string(name.AsString())
                                     : "*");
  }
  return list.TextOr("<unset>");
}

std::string AddressesText(const Object& slice) {
  ShortList list;
  for (const Value& endpoint : slice["endpoints"].items()) {
    for (const Value& address : endpoint["addresses"].items()) {
      list.Add(std::string(address.AsString()));
    }
  }
  return list.TextOr("<unset>");
}

}  // namespace

void SetEndpointSliceDefaults(Object& slice) {
  MapEdit root(slice.root(), slice.arena());
  // Kubernetes stores protobuf, in which an empty list is none.
  for (const char* const key : {"endpoints", "ports"}) {
    if (root[key].is_list() && root[key].size() == 0) root.Set(key, Value());
  }
  root.Items("ports", [](MapEdit& port) {
    port.Default("name", Value::String(""));
    port.Default("protocol", Value::String("TCP"));
  });
  if (root.changed()) slice.SetRoot(root.Build());
}

std::shared_ptr<const rest::Strategy> NewEndpointSliceStrategy() {
  return std::make_shared<EndpointSliceStrategy>();
}

std::shared_ptr<const rest::TableConvertor> NewEndpointSliceColumns(const Clock& clock) {
  return NewColumns(
      {NameColumn(), TextColumn("AddressType", "The kind of its addresses."),
       TextColumn("Ports", "The ports of its endpoints."),
       TextColumn("Endpoints", "The addresses of its endpoints."), AgeColumn()},
      [](const Object& slice, Cells& cells) {
        cells.Text(slice.name())
            .Text(slice["addressType"].AsString())
            .Text(PortsText(slice))
            .Text(AddressesText(slice))
            .Age(slice);
      },
      clock);
}

}  // namespace apiserver::v0::groups::discovery
