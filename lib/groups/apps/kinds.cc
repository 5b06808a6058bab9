#include "groups/kinds.h"
#include "apiserver/groups/apps.h"
#include "groups/workloads_api.h"

namespace apiserver::v0::groups::apps {

Result<std::vector<runtime::KindPtr>> Kinds() {
  return KindsOfV1(workloads_api::Descriptors(), "k8s.io.api.apps.v1",
                   {{.group = "apps",
                     .kind = "Deployment",
                     .plural = "deployments",
                     .short_names = {"deploy"},
                     .categories = {"all"}}});
}

}  // namespace apiserver::v0::groups::apps
