#include "groups/kinds.h"
#include "apiserver/groups/admissionregistration.h"
#include "groups/admissionregistration_api.h"

namespace apiserver::v0::groups::admissionregistration {

Result<std::vector<runtime::KindPtr>> Kinds() {
  const std::string group = "admissionregistration.k8s.io";
  return KindsOfV1(admissionregistration_api::Descriptors(), "k8s.io.api.admissionregistration.v1",
                   {{.group = group,
                     .kind = "MutatingWebhookConfiguration",
                     .plural = "mutatingwebhookconfigurations",
                     .categories = {"api-extensions"},
                     .namespaced = false},
                    {.group = group,
                     .kind = "ValidatingWebhookConfiguration",
                     .plural = "validatingwebhookconfigurations",
                     .categories = {"api-extensions"},
                     .namespaced = false}});
}

}  // namespace apiserver::v0::groups::admissionregistration
