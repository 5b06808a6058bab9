#include "groups/kinds.h"

#include <cstdint>
#include <string_view>

#include "apiserver/groups/authentication.h"
#include "apiserver/runtime/object.h"
#include "groups/authentication_api.h"

#include "base/status_macros.h"

namespace apiserver::v0::groups::authentication {

namespace {

constexpr std::string_view kPackage = "k8s.io.api.authentication.v1";

// As SetDefaults_TokenRequestSpec.
void SetTokenRequestDefaults(runtime::Object& request) {
  constexpr std::int64_t kHour = 3600;
  if (request["spec"]["expirationSeconds"].is_null()) {
    request.Edit("spec", "expirationSeconds") = kHour;
  }
}

}  // namespace

Result<std::vector<runtime::KindPtr>> Kinds() {
  const std::string group = "authentication.k8s.io";
  return KindsOfV1(
      authentication_api::Descriptors(), kPackage,
      {{.group = group,
        .kind = "SelfSubjectReview",
        .plural = "selfsubjectreviews",
        .namespaced = false},
       {.group = group, .kind = "TokenReview", .plural = "tokenreviews", .namespaced = false}});
}

Result<runtime::KindPtr> TokenRequestKind() {
  ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds,
                   KindsOfV1(authentication_api::Descriptors(), kPackage,
                             {{.group = "authentication.k8s.io",
                               .kind = "TokenRequest",
                               .plural = "tokenrequests",
                               .versions = {{.set_defaults = &SetTokenRequestDefaults,
                                             .status_subresource = false}}}}));
  return kinds.front();
}

}  // namespace apiserver::v0::groups::authentication
