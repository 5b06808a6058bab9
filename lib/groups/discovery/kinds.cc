#include "groups/kinds.h"
#include "apiserver/groups/discovery.h"
#include "groups/workloads_api.h"

namespace apiserver::v0::groups::discovery {

Result<std::vector<runtime::KindPtr>> Kinds() {
  return KindsOfV1(
      workloads_api::Descriptors(), "k8s.io.api.discovery.v1",
      {{.group = "discovery.k8s.io", .kind = "EndpointSlice", .plural = "endpointslices"}});
}

}  // namespace apiserver::v0::groups::discovery
