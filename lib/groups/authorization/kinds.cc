#include "groups/kinds.h"
#include "apiserver/groups/authorization.h"
#include "groups/authorization_api.h"

namespace apiserver::v0::groups::authorization {

Result<std::vector<runtime::KindPtr>> Kinds() {
  const std::string group = "authorization.k8s.io";
  return KindsOfV1(
      authorization_api::Descriptors(), "k8s.io.api.authorization.v1",
      // Only the local review is namespaced: the right to create it can be given per namespace.
      {{.group = group, .kind = "LocalSubjectAccessReview", .plural = "localsubjectaccessreviews"},
       {.group = group,
        .kind = "SelfSubjectAccessReview",
        .plural = "selfsubjectaccessreviews",
        .namespaced = false},
       {.group = group,
        .kind = "SelfSubjectRulesReview",
        .plural = "selfsubjectrulesreviews",
        .namespaced = false},
       {.group = group,
        .kind = "SubjectAccessReview",
        .plural = "subjectaccessreviews",
        .namespaced = false}});
}

}  // namespace apiserver::v0::groups::authorization
