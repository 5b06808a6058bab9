#include "groups/kinds.h"
#include "apiserver/groups/authentication.h"
#include "groups/authentication_api.h"

namespace apiserver::v0::groups::authentication {

Result<std::vector<runtime::KindPtr>> Kinds() {
  const std::string group = "authentication.k8s.io";
  return KindsOfV1(
      authentication_api::Descriptors(), "k8s.io.api.authentication.v1",
      {{.group = group,
        .kind = "SelfSubjectReview",
        .plural = "selfsubjectreviews",
        .namespaced = false},
       {.group = group, .kind = "TokenReview", .plural = "tokenreviews", .namespaced = false}});
}

}  // namespace apiserver::v0::groups::authentication
