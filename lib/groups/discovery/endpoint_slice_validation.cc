#include "groups/discovery/endpoint_slice_validation.h"

#include <set>
#include <string_view>

#include "apiserver/meta/validation.h"
#include "groups/core/address_checks.h"
#include "groups/core/checks.h"

namespace apiserver::v0::groups::discovery {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::size_t kTopologyLabelsMax = 16;
constexpr std::size_t kAddressesMax = 100;
constexpr std::size_t kPortsMax = 20'000;
constexpr std::size_t kEndpointsMax = 1'000;
constexpr std::size_t kHintsMax = 8;

void CheckIp(ErrorList& errors, const Path& list, std::size_t index, std::string_view ip,
             bool want_ipv4) {
  const Path path = list.Index(index);
  ErrorList wrong;
  if (want_ipv4) {
    core::CheckLegacyIp(wrong, path, ip);
  } else {
    core::CheckCanonicalIp(wrong, path, ip);
  }
  if (!wrong.empty()) return errors.Append(std::move(wrong));
  if (want_ipv4 && !core::IsIpv4Address(ip)) errors.Invalid(list, ip, "must be an IPv4 address");
  if (!want_ipv4 && !core::IsIpv6Address(ip)) errors.Invalid(list, ip, "must be an IPv6 address");
  core::CheckEndpointIp(errors, path, ip);
}

// Addresses of a type that nobody knows are not looked at: the type is refused.
void CheckAddresses(Value addresses, std::string_view type, const Path& path, ErrorList& errors) {
  if (addresses.size() == 0) {
    errors.Required(path, "must contain at least 1 address");
  } else if (addresses.size() > kAddressesMax) {
    errors.TooMany(path, addresses.size(), kAddressesMax);
  }
  for (std::size_t i = 0; i < addresses.items().size() && !errors.full(); ++i) {
    const std::string_view address = addresses.at(i).AsString();
    if (type == "FQDN") errors.Append(meta::IsFullyQualifiedDomainName(path.Index(i), address));
    if (type == "IPv4" || type == "IPv6") CheckIp(errors, path, i, address, type == "IPv4");
  }
}

// Checks a list of hints; `check` checks a name.
template <class Check>
void CheckHintList(Value hints, const Path& path, ErrorList& errors, Check check) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < hints.items().size(); ++i) {
    const std::string_view name = hints.at(i)["name"].AsString();
    const Path at = path.Index(i).Child("name");
    if (!names.insert(name).second) errors.Duplicate(at, name);
    core::AddComplaints(errors, at, name, check(name));
  }
}

void CheckHints(Value hints, const Path& path, ErrorList& errors) {
  const Path zones = path.Child("forZones");
  if (hints["forZones"].size() > kHintsMax) {
    return errors.TooMany(zones, hints["forZones"].size(), kHintsMax);
  }
  CheckHintList(hints["forZones"], zones, errors, &meta::IsValidLabelValue);
  const Path nodes = path.Child("forNodes");
  if (hints["forNodes"].size() > kHintsMax) {
    return errors.TooMany(nodes, hints["forNodes"].size(), kHintsMax);
  }
  CheckHintList(hints["forNodes"], nodes, errors, &meta::IsDNS1123Subdomain);
}

void CheckEndpoint(Value endpoint, std::string_view type, const Path& path, ErrorList& errors) {
  CheckAddresses(endpoint["addresses"], type, path.Child("addresses"), errors);
  if (!endpoint["nodeName"].is_null()) {
    core::CheckDnsSubdomain(errors, path.Child("nodeName"), endpoint["nodeName"].AsString());
  }
  const Path topology = path.Child("deprecatedTopology");
  if (endpoint["deprecatedTopology"].size() > kTopologyLabelsMax) {
    errors.TooMany(topology, endpoint["deprecatedTopology"].size(), kTopologyLabelsMax);
  }
  errors.Append(meta::ValidateLabels(endpoint["deprecatedTopology"], topology));
  if (!endpoint["hostname"].is_null()) {
    core::CheckDnsLabel(errors, path.Child("hostname"), endpoint["hostname"].AsString());
  }
  if (!endpoint["hints"].is_null()) CheckHints(endpoint["hints"], path.Child("hints"), errors);
}

ErrorList ValidateEndpoints(Value endpoints, std::string_view type) {
  ErrorList errors;
  const Path path("endpoints");
  if (endpoints.size() > kEndpointsMax) {
    errors.TooMany(path, endpoints.size(), kEndpointsMax);
    return errors;
  }
  for (std::size_t i = 0; i < endpoints.items().size() && !errors.full(); ++i) {
    CheckEndpoint(endpoints.at(i), type, path.Index(i), errors);
  }
  return errors;
}

void CheckSlicePorts(Value ports, ErrorList& errors) {
  const Path path("ports");
  if (ports.size() > kPortsMax) return errors.TooMany(path, ports.size(), kPortsMax);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < ports.items().size() && !errors.full(); ++i) {
    const Value port = ports.at(i);
    const Path at = path.Index(i);
    const std::string_view name = port["name"].AsString();
    if (!name.empty()) core::CheckDnsLabel(errors, at.Child("name"), name);
    if (!names.insert(name).second) errors.Duplicate(at.Child("name"), name);
    if (port["protocol"].is_null()) {
      errors.Required(at.Child("protocol"));
    } else {
      core::CheckWord(errors, at.Child("protocol"), port["protocol"].AsString(),
                      {"SCTP", "TCP", "UDP"});
    }
    if (!port["appProtocol"].is_null()) {
      core::CheckQualifiedName(errors, at.Child("appProtocol"), port["appProtocol"].AsString());
    }
  }
}

}  // namespace

ErrorList ValidateEndpointSlice(const runtime::Object& slice, const runtime::Object* old) {
  ErrorList errors =
      core::ValidateCoreMeta(slice.metadata(), /*namespaced=*/true, meta::NameIsDNSSubdomain);
  const std::string_view type = slice["addressType"].AsString();
  core::CheckNeededWord(errors, Path("addressType"), type, {"FQDN", "IPv4", "IPv6"});
  CheckSlicePorts(slice["ports"], errors);
  ErrorList of_endpoints = ValidateEndpoints(slice["endpoints"], type);
  const bool kept =
      old != nullptr && !of_endpoints.empty() && slice["endpoints"] == (*old)["endpoints"];
  if (!kept) errors.Append(std::move(of_endpoints));
  if (old != nullptr) {
    errors.Append(meta::ValidateImmutableField(slice["addressType"], (*old)["addressType"],
                                               Path("addressType")));
  }
  return errors;
}

}  // namespace apiserver::v0::groups::discovery
