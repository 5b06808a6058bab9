#include <memory>
#include <utility>

#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "endpoints/handlers/audit.h"
#include "endpoints/handlers/handlers.h"
#include "endpoints/handlers/patched_object.h"
#include "endpoints/handlers/run_update.h"

namespace apiserver::v0::endpoints {

namespace {

// Returns the options of the update or create that the patch is.
meta::UpdateOptions UpdateOptionsOf(const meta::PatchOptions& options) {
  return {.dry_run = options.dry_run,
          .field_manager = options.field_manager,
          .field_validation = options.field_validation};
}

class PatchWork final : public UpdateWork {
 public:
  PatchWork(ScopePtr scope_of, http::Exchange& from, PatchType type,
            const meta::PatchOptions& wanted, ApplyBody body)
      : UpdateWork(std::move(scope_of), from, UpdateOptionsOf(wanted)),
        options_(wanted),
        apply_body_(std::move(body)),
        request_{.scope = *scope,
                 .exchange = exchange,
                 .type = type,
                 .options = options_,
                 .admitter = admitter,
                 .apply = type == PatchType::kApply ? &apply_body_ : nullptr} {}

  const rest::UpdatedObjectInfo& Info(bool track_fields) const override {
    return track_fields ? with_owners_ : without_owners_;
  }
  bool applies() const override { return request_.type == PatchType::kApply; }

 private:
  const meta::PatchOptions options_;
  const ApplyBody apply_body_;
  const PatchRequest request_;
  const PatchedObject with_owners_{request_, true};
  const PatchedObject without_owners_{request_, false};
};

// The kind of patch in the Content-Type.
struct Form {
  PatchType type;
  bool cbor;
};

// Returns the kind that says which patches there are: a Scale is patched as what it scales.
const runtime::Kind& PatchedKind(const RequestScope& scope) {
  const bool custom = scope.resource_kind->semantics() == runtime::Semantics::kCustomResource;
  return custom ? *scope.resource_kind : *scope.kind;
}

Result<Form> FormOf(const RequestScope& scope, const http::Exchange& exchange) {
  const runtime::Kind& kind = PatchedKind(scope);
  const bool speaks_cbor = exchange.Find<response::ServesCbor>() != nullptr;
  const std::string_view content_type = exchange.request().headers.Get("Content-Type");
  const bool cbor = speaks_cbor && PatchMediaTypeOf(content_type) == kApplyCborMediaType;
  const auto type = cbor ? PatchType::kApply : PatchTypeOf(kind, content_type);
  if (!type) return meta::NewUnsupportedMediaType(AcceptedPatchTypes(kind, speaks_cbor));
  return Form{*type, cbor};
}

}  // namespace

// Checks the kind of patch first, as handlers.PatchResource does.
Status CheckPatch(const RequestScope& scope, http::Exchange& exchange) {
  RETURN_IF_ERROR(FormOf(scope, exchange).status());
  return response::CheckAcceptable(exchange, scope.target, /*watch=*/false);
}

http::Handler NewPatchHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    ASSIGN_OR_RETURN(const Form form, FormOf(*scope, exchange));
    const bool apply = form.type == PatchType::kApply;
    // An apply merges the owners of all fields: too much for a loop.
    RETURN_IF_ERROR(apply ? scope->MayWriteHere(exchange)
                          : scope->MayWriteHere(exchange, {admission::Operation::kUpdate}));
    RETURN_IF_ERROR(CheckPatch(*scope, exchange));
    ASSIGN_OR_RETURN(const meta::PatchOptions options,
                     meta::ParsePatchOptions(exchange.query().all(), apply));
    RETURN_IF_ERROR(ReserveDecoding(exchange));
    ApplyBody apply_body;
    if (apply) {
      ASSIGN_OR_RETURN(apply_body, ParseApplyBody(exchange, form.cbor));
    }
    LogRequestPatch(exchange, form.type, form.cbor);
    return RunUpdate(
        std::make_shared<PatchWork>(scope, exchange, form.type, options, std::move(apply_body)));
  };
}

}  // namespace apiserver::v0::endpoints
