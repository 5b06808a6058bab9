#include "groups/core/kinds.h"

#include <string>
#include <utility>

#include "apiserver/groups/core.h"
#include "base/status_macros.h"
#include "groups/core/endpoints_strategy.h"
#include "groups/core/namespace_strategy.h"
#include "groups/core/node_strategy.h"
#include "groups/core/pod_defaults.h"
#include "groups/core/secret_data.h"
#include "groups/kinds.h"
#include "groups/workloads_api.h"

namespace apiserver::v0::groups::core {
namespace {

constexpr std::string_view kPackage = "k8s.io.api.core.v1";

// Kinds of the core group that this server serves or that clients of it know.
runtime::KindOptions SecretKind() {
  return {.kind = "Secret", .plural = "secrets", .selectable_fields = {"type"}};
}

runtime::KindOptions ServiceAccountKind() {
  return {.kind = "ServiceAccount", .plural = "serviceaccounts", .short_names = {"sa"}};
}

runtime::KindOptions PodKind() {
  return {.kind = "Pod",
          .plural = "pods",
          .short_names = {"po"},
          .categories = {"all"},
          .selectable_fields = {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
                                "spec.serviceAccountName", "spec.hostNetwork", "status.phase",
                                "status.podIP", "status.nominatedNodeName"}};
}

runtime::KindOptions NamespaceKind() {
  return {.kind = "Namespace",
          .plural = "namespaces",
          .short_names = {"ns"},
          .namespaced = false,
          .selectable_fields = {"status.phase"}};
}

runtime::KindOptions ConfigMapKind() {
  return {.kind = "ConfigMap", .plural = "configmaps", .short_names = {"cm"}};
}

runtime::KindOptions EndpointsKind() {
  return {.kind = "Endpoints", .plural = "endpoints", .short_names = {"ep"}};
}

runtime::KindOptions EventKind() {
  return {.kind = "Event",
          .plural = "events",
          .short_names = {"ev"},
          .selectable_fields = {
              "involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
              "involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion",
              "involvedObject.fieldPath", "reason", "reportingComponent", "type"}};
}

// Follows pkg/apis/core/v1/defaults.go and conversion.go.
void SetSecretDefaults(runtime::Object& secret) {
  MoveStringData(secret);
  if (secret["type"].size() == 0) secret.Edit("type") = "Opaque";
}

}  // namespace

Result<std::vector<runtime::KindPtr>> Kinds() {
  return KindsOfV1(workloads_api::Descriptors(), kPackage,
                   {ConfigMapKind(),
                    EndpointsKind(),
                    EventKind(),
                    NamespaceKind(),
                    PodKind(),
                    SecretKind(),
                    {.kind = "Service",
                     .plural = "services",
                     .short_names = {"svc"},
                     .categories = {"all"},
                     .selectable_fields = {"spec.clusterIP", "spec.type"}},
                    ServiceAccountKind()});
}

Result<std::vector<runtime::KindPtr>> ServedKinds() {
  // Only a server that serves the kind needs its defaults.
  runtime::KindOptions secret = SecretKind();
  secret.versions = {{.set_defaults = &SetSecretDefaults}};
  return KindsOfV1(workloads_api::Descriptors(), kPackage,
                   {std::move(secret), ServiceAccountKind()});
}

Result<runtime::KindPtr> BindingKind() {
  ASSIGN_OR_RETURN(const auto kinds, KindsOfV1(workloads_api::Descriptors(), kPackage,
                                               {{.kind = "Binding", .plural = "bindings"}}));
  return kinds.front();
}

Result<std::vector<runtime::KindPtr>> ClusterKinds() {
  runtime::KindOptions pod = PodKind();
  // Names that clients of before use; podIPs can be asked for and is never found.
  pod.selectable_fields.insert(pod.selectable_fields.end(), {"spec.host", "status.podIPs"});
  pod.versions = {{.set_defaults = &SetPodDefaults}};
  runtime::KindOptions endpoints = EndpointsKind();
  endpoints.versions = {{.deprecation_warning = "v1 Endpoints is deprecated in v1.33+; use "
                                                "discovery.k8s.io/v1 EndpointSlice",
                         .set_defaults = &SetEndpointsDefaults}};
  runtime::KindOptions of_namespaces = NamespaceKind();
  of_namespaces.versions = {{.set_defaults = &SetNamespaceDefaults}};
  runtime::KindOptions event = EventKind();
  event.selectable_fields.emplace_back("source");
  return KindsOfV1(workloads_api::Descriptors(), kPackage,
                   {std::move(pod),
                    {.kind = "Node",
                     .plural = "nodes",
                     .short_names = {"no"},
                     .namespaced = false,
                     .versions = {{.set_defaults = &SetNodeDefaults}},
                     .selectable_fields = {"spec.unschedulable"}},
                    ConfigMapKind(),
                    std::move(endpoints),
                    std::move(event),
                    std::move(of_namespaces)});
}

}  // namespace apiserver::v0::groups::core
