#include <memory>
#include <utility>

#include "apiserver/meta/errors.h"
#include "apiserver/rest/meta.h"
#include "base/status_macros.h"
#include "endpoints/handlers/handlers.h"
#include "endpoints/handlers/owner_references.h"
#include "endpoints/handlers/run_update.h"

namespace apiserver::v0::endpoints {

namespace {

// The object of a PUT. On every attempt its owners are computed and it is admitted again.
class ReplacedObject final : public rest::UpdatedObjectInfo {
 public:
  // Borrows `work`.
  ReplacedObject(runtime::ObjectPtr object, const UpdateWork& work, bool track_fields)
      : object_(std::move(object)), work_(work), track_fields_(track_fields) {}

  meta::Preconditions GetPreconditions() const override {
    meta::Preconditions preconditions;
    // A uid in the body is a precondition.
    if (!object_->uid().empty()) preconditions.uid = std::string(object_->uid());
    return preconditions;
  }

  Result<std::unique_ptr<runtime::Object>> UpdatedObject(
      const Context& ctx, const runtime::ObjectPtr& old) const override {
    // Shares what was decoded, which no attempt changes.
    auto object = std::make_unique<runtime::Object>(object_->kind_ptr(), object_->version(),
                                                    runtime::Arena(), object_->root());
    object->arena().Pin(object_);
    if (track_fields_) {
      work_.scope->TrackFields(work_.exchange, old.get(), *object, work_.options.field_manager);
    } else {
      // The object with its owners was too large for the storage.
      object->Erase("metadata", "managedFields");
    }
    // Admission may add duplicates as well, which are removed after it.
    RETURN_IF_ERROR(work_.admitter.Admit(ctx, *object, old.get()));
    DedupOwnerReferences(ctx, *object, /*after_admission=*/true);
    return object;
  }

 private:
  const runtime::ObjectPtr object_;
  const UpdateWork& work_;
  const bool track_fields_;
};

class ReplaceWork final : public UpdateWork {
 public:
  ReplaceWork(ScopePtr scope, http::Exchange& exchange, const meta::UpdateOptions& options,
              const runtime::ObjectPtr& object)
      : UpdateWork(std::move(scope), exchange, options),
        with_owners_(object, *this, true),
        without_owners_(object, *this, false) {}

  const rest::UpdatedObjectInfo& Info(bool track_fields) const override {
    return track_fields ? with_owners_ : without_owners_;
  }

 private:
  const ReplacedObject with_owners_;
  const ReplacedObject without_owners_;
};

}  // namespace

// Checks in the order of handlers.UpdateResource: bad options come before a bad Content-Type.
Status CheckUpdate(const RequestScope& scope, http::Exchange& exchange) {
  RETURN_IF_ERROR(response::CheckAcceptable(exchange, scope.target, /*watch=*/false));
  RETURN_IF_ERROR(meta::ParseUpdateOptions(exchange.query().all()).status());
  return BodyMediaType(exchange).status();
}

http::Handler NewUpdateHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayWriteHere(
        exchange, {admission::Operation::kCreate, admission::Operation::kUpdate}));
    RETURN_IF_ERROR(CheckUpdate(*scope, exchange));
    ASSIGN_OR_RETURN(const meta::UpdateOptions options,
                     meta::ParseUpdateOptions(exchange.query().all()));
    ASSIGN_OR_RETURN(std::unique_ptr<runtime::Object> decoded,
                     scope->Decode(exchange, options.field_validation));
    const auto& info = exchange.Get<request::RequestInfo>();
    RETURN_IF_ERROR(rest::EnsureObjectNamespaceMatchesRequestNamespace(info.namespace_, *decoded));
    RETURN_IF_ERROR(scope->CheckName(*decoded, info.name, info.namespace_));
    DedupOwnerReferences(exchange.ctx(), *decoded, /*after_admission=*/false);

    return RunUpdate(std::make_shared<ReplaceWork>(scope, exchange, options, std::move(decoded)));
  };
}

}  // namespace apiserver::v0::endpoints
