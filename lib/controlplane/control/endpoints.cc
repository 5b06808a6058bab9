#include "controlplane/control/endpoints.h"

#include <algorithm>
#include <utility>

#include "apiserver/codec/json.h"
#include "base/status_macros.h"
#include "controlplane/control/objects.h"
#include "text/ip.h"

namespace apiserver::v0::controlplane {
namespace {

using runtime::Arena;
using runtime::ListBuilder;
using runtime::MapBuilder;
using runtime::Object;
using runtime::Value;

constexpr char kEndpointsNamespace[] = "default";
constexpr char kSkipMirror[] = "endpointslice.kubernetes.io/skip-mirror";
constexpr char kServiceNameLabel[] = "kubernetes.io/service-name";

client::Target EndpointsTarget(std::string_view name = "") {
  return {.resource = {"", "v1", "endpoints"},
          .namespace_ = kEndpointsNamespace,
          .name = std::string(name)};
}
client::Target SliceTarget(std::string_view name = "") {
  return {.resource = {"discovery.k8s.io", "v1", "endpointslices"},
          .namespace_ = kEndpointsNamespace,
          .name = std::string(name)};
}

Value Text(Arena& arena, const std::string& text) { return Value::String(arena.Copy(text)); }

EndpointSubset SubsetOf(Value value) {
  EndpointSubset subset;
  for (const Value& each : value["addresses"].items()) {
    subset.addresses.emplace_back(each["ip"].AsString());
  }
  for (const Value& each : value["ports"].items()) {
    subset.ports.push_back({.name = std::string(each["name"].AsString()),
                            .port = static_cast<int>(each["port"].AsInt()),
                            .protocol = std::string(each["protocol"].AsString())});
  }
  return subset;
}

Value ToValue(const EndpointSubset& subset, Arena& arena) {
  ListBuilder addresses(arena);
  for (const std::string& each : subset.addresses) {
    MapBuilder address(arena);
    address.Add("ip", Text(arena, each));
    addresses.Add(address.Build());
  }
  ListBuilder ports(arena);
  for (const EndpointPort& each : subset.ports) {
    MapBuilder port(arena);
    port.Add("name", Text(arena, each.name));
    port.Add("port", Value::Int(each.port));
    port.Add("protocol", Text(arena, each.protocol));
    ports.Add(port.Build());
  }
  MapBuilder map(arena);
  map.Add("addresses", addresses.Build());
  map.Add("ports", ports.Build());
  return map.Build();
}

void Fill(const Endpoints& endpoints, Object& object) {
  if (endpoints.skip_mirror) object.Edit("metadata", "labels", kSkipMirror) = "true";
  ListBuilder subsets(object.arena());
  for (const EndpointSubset& each : endpoints.subsets) {
    subsets.Add(ToValue(each, object.arena()));
  }
  object.Edit("subsets") = subsets.Build();
}

// The addresses of a slice are of one family.
std::unique_ptr<Object> SliceOf(const Endpoints& endpoints) {
  auto slice =
      NewObject({"discovery.k8s.io", "v1", "EndpointSlice"}, kEndpointsNamespace, endpoints.name);
  slice->Edit("metadata", "labels", kServiceNameLabel) = endpoints.name;
  const EndpointSubset subset =
      endpoints.subsets.empty() ? EndpointSubset() : endpoints.subsets.front();
  const bool v6 = !subset.addresses.empty() &&
                  std::ranges::all_of(subset.addresses,
                                      [](const std::string& each) { return text::IsIpv6(each); });
  slice->Edit("addressType") = v6 ? "IPv6" : "IPv4";
  Arena& arena = slice->arena();
  ListBuilder all(arena);
  for (const std::string& each : subset.addresses) {
    if (text::IsIpv6(each) != v6) continue;
    ListBuilder addresses(arena);
    addresses.Add(Text(arena, each));
    MapBuilder conditions(arena);
    conditions.Add("ready", Value::Bool(true));
    MapBuilder endpoint(arena);
    endpoint.Add("addresses", addresses.Build());
    endpoint.Add("conditions", conditions.Build());
    all.Add(endpoint.Build());
  }
  slice->Edit("endpoints") = all.Build();
  ListBuilder ports(arena);
  for (const EndpointPort& each : subset.ports) {
    MapBuilder port(arena);
    port.Add("name", Text(arena, each.name));
    port.Add("protocol", Text(arena, each.protocol));
    port.Add("port", Value::Int(each.port));
    ports.Add(port.Build());
  }
  slice->Edit("ports") = ports.Build();
  return slice;
}

// Empty and missing lists are the same, as Semantic.DeepEqual has it.
bool SameJson(Value a, Value b) {
  if (a.size() == 0 && b.size() == 0) return true;
  std::string texts[2];
  codec::AppendJson(a, texts[0]);
  codec::AppendJson(b, texts[1]);
  return texts[0] == texts[1];
}

}  // namespace

void Repack(Endpoints& endpoints) {
  std::vector<std::string>& addresses = endpoints.subsets.front().addresses;
  std::ranges::sort(addresses);
  // Not ranges::unique: clang 14 does not compile what it returns.
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  if (addresses.empty()) endpoints.subsets.clear();
}

Result<Endpoints> EndpointsAdapter::Get(const Context& ctx, std::string_view name) {
  ASSIGN_OR_RETURN(read_, api_.Get(ctx, EndpointsTarget(name)));
  Endpoints endpoints{.name = std::string(name),
                      .resource_version = std::string(read_->resource_version()),
                      .skip_mirror = read_->labels()[kSkipMirror].AsString() == "true"};
  for (const Value& each : (*read_)["subsets"].items()) {
    endpoints.subsets.push_back(SubsetOf(each));
  }
  return endpoints;
}

Status EndpointsAdapter::Create(const Context& ctx, const Endpoints& endpoints) {
  const auto object = NewObject({"", "v1", "Endpoints"}, kEndpointsNamespace, endpoints.name);
  Fill(endpoints, *object);
  RETURN_IF_ERROR(api_.Create(ctx, EndpointsTarget(), *object).status());
  return EnsureEndpointSlice(ctx, endpoints);
}

Status EndpointsAdapter::Update(const Context& ctx, const Endpoints& endpoints) {
  Fill(endpoints, *read_);
  RETURN_IF_ERROR(api_.Update(ctx, EndpointsTarget(endpoints.name), *read_).status());
  return EnsureEndpointSlice(ctx, endpoints);
}

Status EndpointsAdapter::EnsureEndpointSlice(const Context& ctx, const Endpoints& endpoints) {
  const std::unique_ptr<Object> wanted = SliceOf(endpoints);
  const client::Target target = SliceTarget(endpoints.name);
  const auto current = api_.Get(ctx, target);
  if (current.status().reason() == Reason::kNotFound) {
    const Status made = api_.Create(ctx, SliceTarget(), *wanted).status();
    return made.reason() == Reason::kAlreadyExists ? Status() : made;
  }
  RETURN_IF_ERROR(current.status());
  const Object& now = **current;
  // The type cannot be changed.
  if (now["addressType"].AsString() != (*wanted)["addressType"].AsString()) {
    RETURN_IF_ERROR(api_.Delete(ctx, target).status());
    return api_.Create(ctx, SliceTarget(), *wanted).status();
  }
  if (SameJson(now["endpoints"], (*wanted)["endpoints"]) &&
      SameJson(now["ports"], (*wanted)["ports"]) && SameJson(now.labels(), wanted->labels())) {
    return {};
  }
  wanted->Edit("metadata", "resourceVersion") = now.resource_version();
  return api_.Update(ctx, target, *wanted).status();
}

}  // namespace apiserver::v0::controlplane
