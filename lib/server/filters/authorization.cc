#include "apiserver/meta/errors.h"
#include "apiserver/request/request_info.h"
#include "base/status_macros.h"
#include "server/filters/filters.h"
#include "server/filters/look_ups.h"

namespace apiserver::inline v0::server {

namespace {

class Authorization final : public http::Filter {
 public:
  explicit Authorization(const auth::Authorizer* authorizer) : authorizer_(authorizer) {}

  std::string_view name() const override { return "authorization"; }

  http::Step Begin(http::Exchange& exchange) const override {
    if (!authorizer_) return http::Step::Next();
    return BeginWithLookUps(exchange, [this, &exchange] { return Ask(exchange); });
  }

 private:
  Result<http::Step> Ask(http::Exchange& exchange) const {
    const auth::Attributes attributes = AttributesOf(exchange);
    ASSIGN_OR_RETURN(const auth::Verdict verdict,
                     authorizer_->Authorize(exchange.ctx(), attributes));
    if (verdict.decision == auth::Decision::kAllow) return http::Step::Next();
    return Forbidden(attributes, verdict.reason);
  }

  static auth::Attributes AttributesOf(const http::Exchange& exchange) {
    const auto& info = exchange.Get<request::RequestInfo>();
    return {.user = exchange.Get<auth::UserInfoPtr>(),
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

  // As responsewriters.Forbidden: who may not do what to which.
  static Status Forbidden(const auth::Attributes& attributes, std::string_view reason) {
    const std::string user = "User " + field::Quote(attributes.user->name);
    if (!attributes.resource_request) {
      std::string why = user + " cannot " + std::string(attributes.verb) + " path " +
                        field::Quote(attributes.path);
      if (!reason.empty()) why += ": " + std::string(reason);
      return meta::NewForbidden({}, "", why);
    }
    std::string resource(attributes.resource);
    if (!attributes.subresource.empty()) resource += "/" + std::string(attributes.subresource);
    std::string why = user + " cannot " + std::string(attributes.verb) + " resource " +
                      field::Quote(resource) + " in API group " + field::Quote(attributes.group);
    why += attributes.namespace_.empty()
               ? " at the cluster scope"
               : " in the namespace " + field::Quote(attributes.namespace_);
    if (!reason.empty()) why += ": " + std::string(reason);
    return meta::NewForbidden({std::string(attributes.group), std::string(attributes.resource)},
                              attributes.name, why);
  }

  const auth::Authorizer* authorizer_;
};

}  // namespace

FilterPtr NewAuthorization(const auth::Authorizer* authorizer) {
  return std::make_unique<Authorization>(authorizer);
}

}  // namespace apiserver::inline v0::server
