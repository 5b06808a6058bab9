#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/groups/core.h"
#include "base/status_macros.h"
#include "groups/core/config_map_strategy.h"
#include "groups/core/endpoints_strategy.h"
#include "groups/core/event_strategy.h"
#include "groups/core/field_text.h"
#include "groups/core/kinds.h"
#include "groups/core/namespace_strategy.h"
#include "groups/core/node_strategy.h"
#include "groups/core/pod_binding.h"
#include "groups/core/pod_strategy.h"
#include "groups/core/pod_subresources.h"
#include "groups/resource.h"

namespace apiserver::v0::groups::core {
namespace {

using runtime::Object;

// Follows ToSelectableFields of pkg/registry/core/pod.
std::string PodField(const Object& pod, std::string_view field) {
  if (field == "spec.host") field = "spec.nodeName";
  return FieldText(pod, field, field == "spec.hostNetwork");
}

std::string NodeField(const Object& node, std::string_view field) {
  return FieldText(node, field, field == "spec.unschedulable");
}

// Adds what most resources here need besides what all built-in kinds do.
server::Resource ClusterResource(runtime::KindPtr kind,
                                 std::shared_ptr<const rest::Strategy> strategy,
                                 std::shared_ptr<const rest::TableConvertor> columns,
                                 std::string (*field_value)(const Object&,
                                                            std::string_view) = nullptr) {
  server::Resource resource = ResourceOf(std::move(kind), std::move(strategy), std::move(columns));
  resource.configure = [built_in = std::move(resource.configure),
                        field_value](registry::StoreOptions& options) {
    built_in(options);
    if (field_value != nullptr) options.field_value = field_value;
  };
  return resource;
}

Result<server::Resource> PodResource(runtime::KindPtr kind, const Clock& clock) {
  server::Resource pods =
      ClusterResource(std::move(kind), NewPodStrategy(clock), NewPodColumns(clock), &PodField);
  pods.status_strategy = NewPodStatusStrategy();
  ASSIGN_OR_RETURN(pods.subresources, PodSubresources(clock));
  pods.configure = [configure = std::move(pods.configure)](registry::StoreOptions& options) {
    configure(options);
    options.return_deleted_object = true;
  };
  return pods;
}

server::Resource NodeResource(runtime::KindPtr kind, const Clock& clock) {
  server::Resource nodes =
      ClusterResource(std::move(kind), NewNodeStrategy(), NewNodeColumns(clock), &NodeField);
  nodes.status_strategy = NewNodeStatusStrategy();
  return nodes;
}

server::Resource NamespaceResource(runtime::KindPtr kind, const Clock& clock) {
  server::Resource namespaces =
      ClusterResource(std::move(kind), NewNamespaceStrategy(), NewNamespaceColumns(clock));
  namespaces.status_strategy = NewNamespaceStatusStrategy();
  namespaces.subresources["finalize"] = [](std::shared_ptr<registry::Store> store) {
    return Result<std::shared_ptr<rest::Storage>>(NewNamespaceFinalize(std::move(store)));
  };
  namespaces.configure = [configure =
                              std::move(namespaces.configure)](registry::StoreOptions& options) {
    configure(options);
    EndNamespacesInTwoSteps(options);
  };
  return namespaces;
}

Result<server::Resource> ResourceOfKind(const runtime::KindPtr& kind, const Clock& clock) {
  if (kind->kind() == "ConfigMap") {
    return ClusterResource(kind, NewConfigMapStrategy(), NewConfigMapColumns(clock));
  }
  if (kind->kind() == "Endpoints") {
    return ClusterResource(kind, NewEndpointsStrategy(), NewEndpointsColumns(clock));
  }
  if (kind->kind() == "Event") {
    return ClusterResource(kind, NewEventStrategy(), NewEventColumns(clock), &EventField);
  }
  if (kind->kind() == "Namespace") return NamespaceResource(kind, clock);
  if (kind->kind() == "Pod") return PodResource(kind, clock);
  return NodeResource(kind, clock);
}

}  // namespace

Result<std::vector<server::Resource>> ClusterResources(const Clock& clock) {
  ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds, ClusterKinds());
  std::vector<server::Resource> resources;
  resources.reserve(kinds.size());
  for (const runtime::KindPtr& kind : kinds) {
    ASSIGN_OR_RETURN(resources.emplace_back(), ResourceOfKind(kind, clock));
  }
  return resources;
}

Status InstallBindings(server::Handler& server, std::shared_ptr<registry::Store> pods,
                       const Clock& clock) {
  ASSIGN_OR_RETURN(const runtime::KindPtr kind, BindingKind());
  return server.InstallAPIResource(
      {.resource = {"", "v1", kind->plural()},
       .storage = {{kind->plural(), NewLegacyBinding(std::move(pods), kind, clock)}}});
}

}  // namespace apiserver::v0::groups::core
