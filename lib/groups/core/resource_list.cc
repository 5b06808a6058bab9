#include "groups/core/resource_list.h"

#include <algorithm>
#include <array>

namespace apiserver::v0::groups::core {
namespace {

using runtime::Quantity;
using runtime::Value;

constexpr std::array<std::string_view, 2> kQosResources = {"cpu", "memory"};

// Adds the amounts above zero of cpu and memory. Returns false if one of them is missing.
bool AddForQos(Value list, ResourceList& total) {
  bool all = true;
  for (const std::string_view name : kQosResources) {
    const auto quantity = Quantity::Parse(list[name].AsString());
    if (list[name].is_null() || !quantity.ok() || quantity->sign() <= 0) {
      all = false;
      continue;
    }
    total[std::string(name)].Add(*quantity);
  }
  return all;
}

// Sums up what decides the class. Returns false if limits are missing that Guaranteed needs.
bool SumForQos(Value spec, ResourceList& requests, ResourceList& limits) {
  const Value own = spec["resources"];
  if (!own.is_null()) {
    AddForQos(own["requests"], requests);
    return own["limits"].size() == 0 || AddForQos(own["limits"], limits);
  }
  bool complete = true;
  for (const char* const list : {"containers", "initContainers"}) {
    for (const Value& container : spec[list].items()) {
      AddForQos(container["resources"]["requests"], requests);
      complete &= AddForQos(container["resources"]["limits"], limits);
    }
  }
  return complete;
}

}  // namespace

ResourceList ReadResources(Value map) {
  ResourceList list;
  for (const runtime::Member& member : map.members()) {
    const auto quantity = Quantity::Parse(member.value.AsString());
    if (quantity.ok()) list.emplace(member.key, *quantity);
  }
  return list;
}

void AddResources(ResourceList& total, const ResourceList& more) {
  for (const auto& [name, quantity] : more) {
    const auto [at, added] = total.emplace(name, quantity);
    if (!added) at->second.Add(quantity);
  }
}

void RaiseResources(ResourceList& total, const ResourceList& other) {
  for (const auto& [name, quantity] : other) {
    const auto [at, added] = total.emplace(name, quantity);
    if (!added && at->second < quantity) at->second = quantity;
  }
}

ResourceList AggregateResources(Value pod_spec, std::string_view which) {
  ResourceList total;
  for (const Value& container : pod_spec["containers"].items()) {
    AddResources(total, ReadResources(container["resources"][which]));
  }
  ResourceList kept;  // Of init containers that keep running.
  ResourceList most;
  for (const Value& container : pod_spec["initContainers"].items()) {
    ResourceList own = ReadResources(container["resources"][which]);
    if (container["restartPolicy"].AsString() == "Always") {
      AddResources(total, own);
      AddResources(kept, own);
      RaiseResources(most, kept);
    } else {
      AddResources(own, kept);
      RaiseResources(most, own);
    }
  }
  RaiseResources(total, most);
  return total;
}

bool IsHugePages(std::string_view resource) { return resource.starts_with("hugepages-"); }

bool IsNativeResource(std::string_view resource) {
  return resource.find('/') == std::string_view::npos ||
         resource.find("kubernetes.io/") != std::string_view::npos;
}

bool IsOvercommitAllowed(std::string_view resource) {
  return IsNativeResource(resource) && !IsHugePages(resource);
}

bool IsPodLevelResource(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || IsHugePages(resource);
}

std::string_view QosClassOf(Value pod_spec) {
  ResourceList requests;
  ResourceList limits;
  const bool complete = SumForQos(pod_spec, requests, limits);
  if (requests.empty() && limits.empty()) return "BestEffort";
  const auto met = [&](const auto& request) {
    const auto limit = limits.find(request.first);
    return limit != limits.end() && limit->second == request.second;
  };
  const bool guaranteed =
      complete && requests.size() == limits.size() && std::ranges::all_of(requests, met);
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace apiserver::v0::groups::core
