#include "groups/kinds.h"

#include "apiserver/groups/discovery.h"
#include "base/status_macros.h"
#include "groups/discovery/endpoint_slice_strategy.h"
#include "groups/resource.h"
#include "groups/workloads_api.h"

namespace apiserver::v0::groups::discovery {
namespace {

Result<std::vector<runtime::KindPtr>> KindsWith(runtime::KindVersion version) {
  return KindsOfV1(workloads_api::Descriptors(), "k8s.io.api.discovery.v1",
                   {{.group = "discovery.k8s.io",
                     .kind = "EndpointSlice",
                     .plural = "endpointslices",
                     .versions = {std::move(version)}}});
}

}  // namespace

Result<std::vector<runtime::KindPtr>> Kinds() { return KindsWith({}); }

Result<std::vector<server::Resource>> Resources(const Clock& clock) {
  ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds,
                   KindsWith({.set_defaults = &SetEndpointSliceDefaults}));
  return std::vector{
      ResourceOf(kinds.front(), NewEndpointSliceStrategy(), NewEndpointSliceColumns(clock))};
}

}  // namespace apiserver::v0::groups::discovery
