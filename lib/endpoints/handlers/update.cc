#include "apiserver/meta/errors.h"
#include "apiserver/rest/meta.h"
#include "base/status_macros.h"
#include "endpoints/handlers/admit.h"
#include "endpoints/handlers/handlers.h"
#include "endpoints/handlers/owner_references.h"

namespace apiserver::inline v0::endpoints {

namespace {

// The object of a PUT, admitted afresh on every try.
class ReplacedObject final : public rest::UpdatedObjectInfo {
 public:
  ReplacedObject(const runtime::Object& object, const Admitter& admitter)
      : object_(object), admitter_(admitter) {}

  meta::Preconditions GetPreconditions() const override {
    meta::Preconditions preconditions;
    if (!object_.uid().empty()) preconditions.uid = std::string(object_.uid());
    return preconditions;
  }

  Result<std::unique_ptr<runtime::Object>> UpdatedObject(
      const Context& ctx, const runtime::ObjectPtr& old) const override {
    std::unique_ptr<runtime::Object> object = object_.Clone();
    RETURN_IF_ERROR(admitter_.Admit(ctx, *object, old.get()));
    DedupOwnerReferences(ctx, *object, /*after_admission=*/true);
    return object;
  }

 private:
  const runtime::Object& object_;
  const Admitter& admitter_;
};

}  // namespace

http::Handler NewUpdateHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayWriteHere(exchange));
    RETURN_IF_ERROR(response::CheckAcceptable(exchange, scope->target, /*watch=*/false));
    ASSIGN_OR_RETURN(const meta::UpdateOptions options,
                     meta::ParseUpdateOptions(exchange.query().all()));
    ASSIGN_OR_RETURN(const std::unique_ptr<runtime::Object> object,
                     scope->Decode(exchange, options.field_validation));
    const auto& info = exchange.Get<request::RequestInfo>();
    RETURN_IF_ERROR(rest::EnsureObjectNamespaceMatchesRequestNamespace(info.namespace_, *object));
    RETURN_IF_ERROR(scope->CheckName(*object, info.name, info.namespace_));
    DedupOwnerReferences(exchange.ctx(), *object, /*after_admission=*/false);

    const Admitter admitter(*scope, exchange, options.dry_run);
    ASSIGN_OR_RETURN(const rest::UpdateResult result,
                     scope->capabilities.updater->Update(
                         exchange.ctx(), info.name,
                         {.info = ReplacedObject(*object, admitter),
                          .validate_create = admitter.AuthorizeAndValidateCreate(),
                          .validate_update = admitter.ValidateUpdate(),
                          .force_allow_create = false,
                          .options = options}));
    return response::WriteObject(exchange, result.created ? 201 : 200, result.object,
                                 scope->target);
  };
}

}  // namespace apiserver::inline v0::endpoints
