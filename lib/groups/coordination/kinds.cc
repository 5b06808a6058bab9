#include "groups/kinds.h"

#include "apiserver/groups/coordination.h"
#include "base/status_macros.h"
#include "groups/coordination/lease_strategy.h"
#include "groups/coordination_api.h"
#include "groups/resource.h"

namespace apiserver::v0::groups::coordination {

Result<std::vector<runtime::KindPtr>> Kinds() {
  return KindsOfV1(coordination_api::Descriptors(), "k8s.io.api.coordination.v1",
                   {{.group = "coordination.k8s.io", .kind = "Lease", .plural = "leases"}});
}

Result<std::vector<server::Resource>> Resources(const Clock& clock) {
  ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds, Kinds());
  return std::vector{ResourceOf(kinds.front(), NewLeaseStrategy(), NewLeaseColumns(clock))};
}

}  // namespace apiserver::v0::groups::coordination
