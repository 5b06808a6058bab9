#include <string>
#include <utility>

#include "apiserver/meta/errors.h"
#include "apiserver/patch/apply/managed_fields.h"
#include "apiserver/rest/create.h"
#include "apiserver/rest/meta.h"
#include "apiserver/rest/update.h"
#include "base/status_macros.h"
#include "registry/dry_run.h"
#include "registry/generic_store.h"

namespace apiserver::v0::registry {
namespace {

constexpr std::string_view kOptimisticLockError =
    "the object has been modified; please apply your changes to the latest version and try again";

}  // namespace

// Returns true if this update removes what kept an object that is otherwise ready to be deleted.
// Follows ShouldDeleteDuringUpdate of registry/store.go.
bool GenericStore::ShouldDeleteDuringUpdate(const runtime::Object& object,
                                            const runtime::Object& existing) const {
  if (object.finalizers().size() > 0 || !existing.deleting() || Stays(object)) return false;
  return existing.metadata()["deletionGracePeriodSeconds"].AsInt() == 0;
}

// The state of one update in progress. It describes the last attempt.
struct GenericStore::UpdateCall {
  const rest::Strategy& strategy;
  const Context& ctx;
  std::string_view name;
  const rest::UpdateRequest& request;
  rest::SchemaCheck checked;
  meta::Preconditions preconditions = {};
  bool allow_create = false;

  bool creating = false;
  Status refusal = {};                   // The error of an attempt, not of storage.
  runtime::ObjectPtr emptied = nullptr;  // To be deleted: its last finalizer was removed.
};

// Version zero or none means an unconditional update, which not every strategy allows.
Status GenericStore::CheckVersion(const UpdateCall& call, runtime::Object& object,
                                  const runtime::Object& existing) const {
  ASSIGN_OR_RETURN(const std::uint64_t wanted,
                   meta::ParseResourceVersion(object.resource_version()));
  if (wanted == 0 && call.strategy.AllowUnconditionalUpdate()) {
    object.Edit("metadata", "resourceVersion") = existing.resource_version();
    return {};
  }
  const runtime::GroupResource resource = options_.kind->group_resource();
  if (wanted == 0) {
    field::ErrorList errors;
    errors.InvalidPrinted(field::Path("metadata").Child("resourceVersion"), "0",
                          "must be specified for an update");
    // As in Go, the resource is reported in place of the kind.
    return meta::NewInvalid({resource.group, resource.resource}, call.name, errors);
  }
  if (object.resource_version() == existing.resource_version()) return {};
  return meta::NewConflict(resource, call.name, kOptimisticLockError);
}

// An update of a missing object is a create, with the checks of one.
Result<storage::Update> GenericStore::TryCreate(UpdateCall& call) const {
  if (!call.allow_create) {
    return meta::NewNotFound(options_.kind->group_resource(), call.name);
  }
  ASSIGN_OR_RETURN(auto object, call.request.info.UpdatedObject(call.ctx, nullptr));
  rest::WipeObjectMetaSystemFields(*object);
  rest::FillObjectMetaSystemFields(*object, *config_.clock, *config_.random);
  call.creating = true;
  if (options_.refuse_create) RETURN_IF_ERROR(options_.refuse_create(call.ctx, *object));
  RETURN_IF_ERROR(rest::BeforeCreate(call.strategy, call.ctx, *object, call.checked));
  if (call.request.validate_create) {
    RETURN_IF_ERROR(call.request.validate_create(call.ctx, *object));
  }
  storage::Update update;
  if (options_.ttl) update.ttl = options_.ttl(*object, false);
  update.object = std::move(object);
  return update;
}

// Runs once for each attempt, against the object as it is now; everything about an earlier attempt
// is overwritten.
Result<storage::Update> GenericStore::TryUpdate(UpdateCall& call,
                                                const runtime::ObjectPtr& stored) const {
  call.creating = false;
  call.emptied = nullptr;
  if (stored == nullptr) return TryCreate(call);
  ASSIGN_OR_RETURN(const runtime::ObjectPtr existing, ForRules(call.ctx, stored));
  ASSIGN_OR_RETURN(auto object, call.request.info.UpdatedObject(call.ctx, existing));
  RETURN_IF_ERROR(CheckVersion(call, *object, *existing));
  RETURN_IF_ERROR(rest::BeforeUpdate(call.strategy, call.ctx, *object, *existing, call.checked));
  // Here, after all that defaults and normalizes what the owners were made of.
  patch::apply::IgnoreManagedFieldsTimestamps(*object, *existing);
  if (call.request.validate_update) {
    RETURN_IF_ERROR(call.request.validate_update(call.ctx, *object, *existing));
  }
  // The error ends GuaranteedUpdate without a write; FinishUpdate then deletes the object.
  if (ShouldDeleteDuringUpdate(*object, *existing)) {
    call.emptied = std::move(object);
    return Status(Reason::kUnknown, "emptied finalizers");
  }
  storage::Update update;
  if (options_.ttl) update.ttl = options_.ttl(*object, true);
  update.object = std::move(object);
  return update;
}

Result<runtime::ObjectPtr> GenericStore::Write(const Context& ctx, const std::string& key,
                                               const storage::UpdateOptions& options,
                                               const storage::TryUpdate& try_update, bool dry_run) {
  return dry_run ? RehearseUpdate(*storage_, ctx, key, options, try_update)
                 : storage_->GuaranteedUpdate(ctx, key, options, try_update);
}

Result<rest::UpdateResult> GenericStore::FinishUpdate(UpdateCall& call, const std::string& key,
                                                      Result<runtime::ObjectPtr> stored) {
  const bool dry_run = call.request.options.dry_run;
  if (stored.ok()) {
    const auto& after = call.creating ? options_.after_create : options_.after_update;
    if (!dry_run) RETURN_IF_ERROR(Tell(call.ctx, after, *stored));
    return rest::UpdateResult{std::move(*stored), call.creating};
  }
  if (call.emptied != nullptr && stored.status() == call.refusal) {
    // The request was admitted as an update; the delete does not pass admission again.
    storage::UpdateOptions options;
    options.preconditions = call.preconditions;
    const auto removed = Remove(call.ctx, key, options, nullptr, dry_run);
    // Another request may have removed it at the same time.
    const bool gone = !removed.ok() && removed.status().reason() == Reason::kNotFound;
    if (!removed.ok() && !gone) {
      return Interpret(removed.status(), Verb::kDelete, call.name);
    }
    const runtime::ObjectPtr deleted = gone ? call.emptied : *removed;
    RETURN_IF_ERROR(dry_run ? Status() : Tell(call.ctx, options_.after_delete, deleted));
    // The client of a PUT expects the object that it sent.
    return rest::UpdateResult{std::move(call.emptied), false};
  }
  if (stored.status() == call.refusal) return stored.status();
  return Interpret(stored.status(), call.creating ? Verb::kCreate : Verb::kUpdate, call.name);
}

Result<rest::UpdateResult> GenericStore::UpdateWith(const rest::Strategy& strategy,
                                                    const Context& ctx, std::string_view name,
                                                    // The main strategy or that of a subresource
                                                    // writes through here.
                                                    const rest::UpdateRequest& request,
                                                    runtime::SchemaPart checked) {
  ASSIGN_OR_RETURN(const std::string key, KeyFor(ctx, name));
  UpdateCall call{.strategy = strategy,
                  .ctx = ctx,
                  .name = name,
                  .request = request,
                  .checked = Checked(checked),
                  .preconditions = request.info.GetPreconditions(),
                  .allow_create = request.force_allow_create || strategy.AllowCreateOnUpdate()};
  storage::UpdateOptions options;
  options.ignore_not_found = call.allow_create;
  options.preconditions = call.preconditions;
  const auto try_update = [this, &call](const runtime::ObjectPtr& existing) {
    auto update = TryUpdate(call, existing);
    call.refusal = update.status();
    return update;
  };
  auto stored = Write(ctx, key, options, try_update, request.options.dry_run);
  return FinishUpdate(call, key, std::move(stored));
}

}  // namespace apiserver::v0::registry
