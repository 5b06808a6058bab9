#include "endpoints/handlers/admit.h"

#include <utility>

#include "apiserver/meta/errors.h"
#include "apiserver/patch/apply/managed_fields.h"
#include "apiserver/rest/warnings.h"
#include "base/status_macros.h"

namespace apiserver::v0::endpoints {

namespace {

// Restores managedFields if a plugin that does not know them has broken them.
void KeepManagedFieldsValid(const Context& ctx, runtime::Object& object, runtime::Value before) {
  const runtime::Value after = object.metadata()["managedFields"];
  if (after == before) return;
  const Status valid = patch::apply::ValidateManagedFields(after);
  if (valid.ok()) return;
  object.Edit("metadata", "managedFields") = before;
  rest::AddWarning(
      ctx,
      ".metadata.managedFields was in an invalid state after admission; this could be "
      "caused by an outdated mutating admission controller; please fix your requests: " +
          std::string(valid.message()));
}

}  // namespace

Admitter::Admitter(const RequestScope& scope, const http::Exchange& exchange)
    : scope_(&scope), info_(&exchange.Get<request::RequestInfo>()) {
  if (const auto* user = exchange.Find<auth::UserInfoPtr>()) user_ = *user;
}

Admitter::Admitter(const RequestScope& scope, const http::Exchange& exchange,
                   const meta::CreateOptions& options)
    : Admitter(scope, exchange) {
  options_ = options;
  dry_run_ = options.dry_run;
}

Admitter::Admitter(const RequestScope& scope, const http::Exchange& exchange,
                   const meta::DeleteOptions& options)
    : Admitter(scope, exchange) {
  options_ = options;
  dry_run_ = options.dry_run;
}

const admission::Chain* Admitter::ChainFor(admission::Operation operation) const {
  // Most operations have no plugin, so that nothing is prepared for them.
  const admission::Chain* chain = scope_->environment->admission;
  return chain != nullptr && chain->Handles(operation) ? chain : nullptr;
}

// Copies what plugins may keep or change; the objects themselves are set by the caller.
admission::Attributes Admitter::For(admission::Operation operation) const {
  return {.operation = operation,
          .kind = scope_->gvk(),
          .resource = scope_->resource,
          .subresource = scope_->subresource,
          .namespace_ = std::string(info_->namespace_),
          .name = info_->name,
          .options = options_,
          .dry_run = dry_run_,
          .user = user_.get(),
          .equivalents = scope_->environment->equivalents};
}

// A create may leave the name to the object's own. A new namespace is in itself, as in Go.
admission::Attributes Admitter::ForCreate(const runtime::Object& object) const {
  admission::Attributes attributes = For(admission::Operation::kCreate);
  if (attributes.name.empty()) attributes.name = object.name();
  const bool of_namespace = attributes.resource.group.empty() &&
                            attributes.resource.resource == "namespaces" &&
                            attributes.subresource.empty();
  if (of_namespace && attributes.namespace_.empty()) attributes.namespace_ = attributes.name;
  attributes.object = &object;
  return attributes;
}

Status Admitter::Admit(const Context& ctx, runtime::Object& object,
                       const runtime::Object* old) const {
  const auto operation = old ? admission::Operation::kUpdate : admission::Operation::kCreate;
  const admission::Chain* chain = ChainFor(operation);
  if (!chain) return {};
  admission::Attributes attributes = old ? For(operation) : ForCreate(object);
  attributes.object = &object;
  attributes.editable = &object;
  attributes.old_object = old;
  // Values of an object are immutable, so this one keeps the state before admission.
  const runtime::Value before = object.metadata()["managedFields"];
  RETURN_IF_ERROR(chain->Admit(ctx, attributes));
  KeepManagedFieldsValid(ctx, object, before);
  return {};
}

// Holds a copy of the Admitter, since an asynchronous create outlives the handler's frame. The
// exchange, to which it points, lives until the response is sent.
rest::ValidateObject Admitter::ValidateCreate() const {
  return [self = *this](const Context& ctx, const runtime::Object& object) -> Status {
    const admission::Chain* chain = self.ChainFor(admission::Operation::kCreate);
    if (!chain) return {};
    return chain->Validate(ctx, self.ForCreate(object));
  };
}

rest::ValidateObjectUpdate Admitter::ValidateUpdate() const {
  return [self = *this](const Context& ctx, const runtime::Object& object,
                        const runtime::Object& old) -> Status {
    const admission::Chain* chain = self.ChainFor(admission::Operation::kUpdate);
    if (!chain) return {};
    admission::Attributes attributes = self.For(admission::Operation::kUpdate);
    attributes.object = &object;
    attributes.old_object = &old;
    return chain->Validate(ctx, std::move(attributes));
  };
}

rest::ValidateObject Admitter::ValidateDelete() const {
  return [self = *this](const Context& ctx, const runtime::Object& object) -> Status {
    const admission::Chain* chain = self.ChainFor(admission::Operation::kDelete);
    if (!chain) return {};
    admission::Attributes attributes = self.For(admission::Operation::kDelete);
    // A delete has no object to change, so both phases run here, on the object that is about to go.
    attributes.old_object = &object;
    RETURN_IF_ERROR(chain->Admit(ctx, attributes));
    return chain->Validate(ctx, std::move(attributes));
  };
}

// Also authorizes the create, for updates that may create: upstream's withAuthorization.
rest::ValidateObject Admitter::AuthorizeAndValidateCreate() const {
  return [self = *this, validate = ValidateCreate()](const Context& ctx,
                                                     const runtime::Object& object) -> Status {
    // The filter has authorized an update; creating is another verb.
    if (const auth::Authorizer* authorizer = self.scope_->environment->authorizer) {
      const runtime::GroupVersionResource& resource = self.scope_->resource;
      const auth::Attributes attributes{.user = self.user_,
                                        .verb = "create",
                                        .resource_request = true,
                                        .group = resource.group,
                                        .version = resource.version,
                                        .resource = resource.resource,
                                        .subresource = self.scope_->subresource,
                                        .namespace_ = self.info_->namespace_,
                                        .name = self.info_->name,
                                        .path = self.info_->path};
      ASSIGN_OR_RETURN(const auth::Verdict verdict, authorizer->Authorize(ctx, attributes));
      if (verdict.decision != auth::Decision::kAllow) {
        return meta::NewForbidden(resource.group_resource(), self.info_->name, verdict.reason);
      }
    }
    return validate(ctx, object);
  };
}

Status Admitter::Connect(const Context& ctx, runtime::Object* options) const {
  const admission::Chain* chain = ChainFor(admission::Operation::kConnect);
  if (!chain) return {};
  admission::Attributes attributes = For(admission::Operation::kConnect);
  if (options != nullptr) {
    attributes.kind = options->gvk();
    attributes.object = options;
    attributes.editable = options;
  }
  RETURN_IF_ERROR(chain->Admit(ctx, attributes));
  attributes.editable = nullptr;
  return chain->Validate(ctx, std::move(attributes));
}

}  // namespace apiserver::v0::endpoints
