#include "groups/kinds.h"
#include "apiserver/groups/coordination.h"
#include "groups/coordination_api.h"

namespace apiserver::v0::groups::coordination {

Result<std::vector<runtime::KindPtr>> Kinds() {
  return KindsOfV1(coordination_api::Descriptors(), "k8s.io.api.coordination.v1",
                   {{.group = "coordination.k8s.io", .kind = "Lease", .plural = "leases"}});
}

}  // namespace apiserver::v0::groups::coordination
