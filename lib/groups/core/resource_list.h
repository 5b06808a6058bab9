#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "apiserver/runtime/quantity.h"
#include "apiserver/runtime/value.h"

// Amounts of resources, by name, and what containers take together:
// k8s.io/component-helpers/resource and pkg/apis/core/helper.
namespace apiserver::inline v0::groups::core {

using ResourceList = std::map<std::string, runtime::Quantity, std::less<>>;

// Reads a map of quantities; those that do not parse are left out.
ResourceList ReadResources(runtime::Value map);
void AddResources(ResourceList& total, const ResourceList& more);
// Raises the amounts in `total` to those in `other`.
void RaiseResources(ResourceList& total, const ResourceList& other);

// Returns what the containers of a PodSpec take together: the sum of containers and of init
// containers that keep running, or what an init container takes while it runs, where that is more.
// `which`: "requests" or "limits".
ResourceList AggregateResources(runtime::Value pod_spec, std::string_view which);

bool IsHugePages(std::string_view resource);
// True for resources without a domain, or of a domain of Kubernetes.
bool IsNativeResource(std::string_view resource);
// True for native resources but huge pages: requests may be below limits.
bool IsOvercommitAllowed(std::string_view resource);
// True for cpu, memory and huge pages, which a pod as a whole may have.
bool IsPodLevelResource(std::string_view resource);

// Returns Guaranteed, Burstable or BestEffort: pkg/apis/core/helper/qos.ComputePodQOS.
std::string_view QosClassOf(runtime::Value pod_spec);

}  // namespace apiserver::inline v0::groups::core
