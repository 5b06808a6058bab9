#include "request/attributes.h"

#include "apiserver/request/request_info.h"

namespace apiserver::v0::request {

// The views point into the exchange's RequestInfo, so the result must not outlive it.
auth::Attributes AttributesOf(const http::Exchange& exchange) {
  const auto& info = exchange.Get<RequestInfo>();
  const auth::UserInfoPtr* const user = exchange.Find<auth::UserInfoPtr>();
  return {.user = user ? *user : nullptr,
          .verb = info.verb,
          .resource_request = info.is_resource_request,
          .group = info.api_group,
          .version = info.api_version,
          .resource = info.resource,
          .subresource = info.subresource,
          .namespace_ = info.namespace_,
          .name = info.name,
          .path = info.path,
          .field_selector = info.field_selector,
          .label_selector = info.label_selector};
}

}  // namespace apiserver::v0::request
