#include "groups/core/endpoints_strategy.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/meta/validation.h"
#include "groups/columns.h"
#include "groups/core/address_checks.h"
#include "groups/core/checks.h"
#include "groups/map_edit.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Object;
using runtime::Value;
using Warnings = std::vector<std::string>;

constexpr std::string_view kAddressLists[] = {"addresses", "notReadyAddresses"};

void CheckAddress(Value address, const Path& path, ErrorList& errors) {
  const std::string_view ip = address["ip"].AsString();
  CheckLegacyIp(errors, path.Child("ip"), ip);
  if (address["hostname"].size() != 0) {
    CheckDnsLabel(errors, path.Child("hostname"), address["hostname"].AsString());
  }
  if (!address["nodeName"].is_null()) {
    CheckDnsSubdomain(errors, path.Child("nodeName"), address["nodeName"].AsString());
  }
  CheckEndpointIp(errors, path.Child("ip"), ip);
}

void CheckEndpointPort(Value port, bool name_needed, const Path& path, ErrorList& errors) {
  if (port["name"].size() != 0) {
    CheckDnsLabel(errors, path.Child("name"), port["name"].AsString());
  } else if (name_needed) {
    errors.Required(path.Child("name"));
  }
  CheckPort(errors, path.Child("port"), port["port"].AsInt());
  CheckNeededWord(errors, path.Child("protocol"), port["protocol"].AsString(),
                  {"SCTP", "TCP", "UDP"});
  if (!port["appProtocol"].is_null()) {
    CheckQualifiedName(errors, path.Child("appProtocol"), port["appProtocol"].AsString());
  }
}

void CheckSubset(Value subset, const Path& path, ErrorList& errors) {
  if (subset["addresses"].size() == 0 && subset["notReadyAddresses"].size() == 0) {
    errors.Required(path, "must specify `addresses` or `notReadyAddresses`");
  }
  for (const std::string_view list : kAddressLists) {
    for (std::size_t i = 0; i < subset[list].items().size() && !errors.full(); ++i) {
      CheckAddress(subset[list].at(i), path.Child(list).Index(i), errors);
    }
  }
  const Value ports = subset["ports"];
  for (std::size_t i = 0; i < ports.items().size() && !errors.full(); ++i) {
    CheckEndpointPort(ports.at(i), ports.size() > 1, path.Child("ports").Index(i), errors);
  }
}

// Subsets that an update leaves as they are may be older than the rules. Null `old`: a create.
ErrorList ValidateEndpoints(const Object& endpoints, const Object* old) {
  ErrorList errors =
      ValidateCoreMeta(endpoints.metadata(), /*namespaced=*/true, meta::NameIsDNSSubdomain);
  const Value subsets = endpoints["subsets"];
  ErrorList of_subsets;
  for (std::size_t i = 0; i < subsets.items().size() && !of_subsets.full(); ++i) {
    CheckSubset(subsets.at(i), Path("subsets").Index(i), of_subsets);
  }
  const bool kept = old != nullptr && !of_subsets.empty() && subsets == (*old)["subsets"];
  if (!kept) errors.Append(std::move(of_subsets));
  return errors;
}

Warnings WarningsOfEndpoints(const Object& endpoints) {
  // The controller writes canonical addresses only.
  constexpr std::string_view kManagedBy = "endpoints.kubernetes.io/managed-by";
  if (endpoints.labels()[kManagedBy].AsString() == "endpoint-controller") return {};
  Warnings warnings;
  const Value subsets = endpoints["subsets"];
  for (std::size_t i = 0; i < subsets.items().size(); ++i) {
    for (const std::string_view list : kAddressLists) {
      const Value addresses = subsets.at(i)[list];
      const Path path = Path("subsets").Index(i).Child(list);
      for (std::size_t j = 0; j < addresses.items().size(); ++j) {
        WarnOfIp(warnings, path.Index(j).Child("ip"), addresses.at(j)["ip"].AsString());
      }
    }
  }
  return warnings;
}

// Follows pkg/registry/core/endpoint/strategy.go.
class EndpointsStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowCreateOnUpdate() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  ErrorList Validate(const Context& /*ctx*/, const Object& endpoints) const override {
    return ValidateEndpoints(endpoints, nullptr);
  }
  ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& endpoints,
                           const Object& old) const override {
    ErrorList errors = ValidateCoreMetaUpdate(endpoints.metadata(), old.metadata());
    errors.Append(ValidateEndpoints(endpoints, &old));
    return errors;
  }
  Warnings WarningsOnCreate(const Context& /*ctx*/, const Object& endpoints) const override {
    return WarningsOfEndpoints(endpoints);
  }
  Warnings WarningsOnUpdate(const Context& /*ctx*/, const Object& endpoints,
                            const Object& /*old*/) const override {
    return WarningsOfEndpoints(endpoints);
  }
};

std::string HostPort(std::string_view ip, std::int64_t port) {
  const bool brackets = ip.find(':') != std::string_view::npos;
  return (brackets ? "[" : "") + std::string(ip) + (brackets ? "]:" : ":") + std::to_string(port);
}

// Follows formatEndpoints.
std::string EndpointsText(const Object& endpoints) {
  if (endpoints["subsets"].size() == 0) return "<none>";
  ShortList list;
  for (const Value& subset : endpoints["subsets"].items()) {
    for (const Value& address : subset["addresses"].items()) {
      if (subset["ports"].size() == 0) list.Add(std::string(address["ip"].AsString()));
    }
    for (const Value& port : subset["ports"].items()) {
      for (const Value& address : subset["addresses"].items()) {
        list.Add(HostPort(address["ip"].AsString(), port["port"].AsInt()));
      }
    }
  }
  return list.TextOr("");
}

}  // namespace

void SetEndpointsDefaults(Object& endpoints) {
  MapEdit root(endpoints.root(), endpoints.arena());
  root.Items("subsets", [](MapEdit& subset) {
    subset.Items("ports", [](MapEdit& port) { port.DefaultText("protocol", "TCP"); });
  });
  if (root.changed()) endpoints.SetRoot(root.Build());
}

std::shared_ptr<const rest::Strategy> NewEndpointsStrategy() {
  return std::make_shared<EndpointsStrategy>();
}

std::shared_ptr<const rest::TableConvertor> NewEndpointsColumns(const Clock& clock) {
  return NewColumns(
      {NameColumn(), TextColumn("Endpoints", "Addresses with their ports."), AgeColumn()},
      [](const Object& endpoints, Cells& cells) {
        cells.Text(endpoints.name()).Text(EndpointsText(endpoints)).Age(endpoints);
      },
      clock);
}

}  // namespace apiserver::v0::groups::core
