#include "groups/kinds.h"

#include "apiserver/groups/core.h"
#include "groups/workloads_api.h"

namespace apiserver::inline v0::groups::core {

Result<std::vector<runtime::KindPtr>> Kinds() {
  return KindsOfV1(
      workloads_api::Descriptors(), "k8s.io.api.core.v1",
      {{.kind = "ConfigMap", .plural = "configmaps", .short_names = {"cm"}},
       {.kind = "Event",
        .plural = "events",
        .short_names = {"ev"},
        .selectable_fields = {"involvedObject.kind", "involvedObject.namespace",
                              "involvedObject.name", "involvedObject.uid",
                              "involvedObject.apiVersion", "involvedObject.resourceVersion",
                              "involvedObject.fieldPath", "reason", "reportingComponent", "type"}},
       {.kind = "Namespace",
        .plural = "namespaces",
        .short_names = {"ns"},
        .namespaced = false,
        .selectable_fields = {"status.phase"}},
       {.kind = "Pod",
        .plural = "pods",
        .short_names = {"po"},
        .categories = {"all"},
        .selectable_fields = {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
                              "spec.serviceAccountName", "spec.hostNetwork", "status.phase",
                              "status.podIP", "status.nominatedNodeName"}},
       {.kind = "Secret", .plural = "secrets", .selectable_fields = {"type"}}});
}

}  // namespace apiserver::inline v0::groups::core
