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

void TellUpdated(Result<rest::UpdateResult> updated, rest::AsyncUpdater::UpdateDone& done) {
  if (updated.ok()) return done({*std::move(updated), nullptr});
  done({{}, [updated = std::move(updated)](const Context&) { return updated; }});
}

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

GenericStore::UpdateCall GenericStore::CallOf(const UpdateRules& rules, const Context& ctx,
                                              std::string_view name,
                                              const rest::UpdateRequest& request) const {
  return {.strategy = rules.strategy,
          .ctx = ctx,
          .name = name,
          .request = request,
          .checked = Checked(rules.checked),
          .preconditions = request.info.GetPreconditions(),
          .allow_create = request.force_allow_create || rules.strategy.AllowCreateOnUpdate()};
}

storage::UpdateOptions GenericStore::OptionsOf(const UpdateCall& call) {
  storage::UpdateOptions options;
  options.ignore_not_found = call.allow_create;
  options.preconditions = call.preconditions;
  return options;
}

storage::TryUpdate GenericStore::TryOf(UpdateCall& call) const {
  return [this, &call](const runtime::ObjectPtr& existing) {
    auto update = TryUpdate(call, existing);
    call.refusal = update.status();
    return update;
  };
}

Result<rest::UpdateResult> GenericStore::UpdateWith(const rest::Strategy& strategy,
                                                    const Context& ctx, std::string_view name,
                                                    // The main strategy or that of a subresource
                                                    // writes through here.
                                                    const rest::UpdateRequest& request,
                                                    runtime::SchemaPart checked) {
  ASSIGN_OR_RETURN(const std::string key, KeyFor(ctx, name));
  UpdateCall call = CallOf({strategy, checked}, ctx, name, request);
  auto stored = Write(ctx, key, OptionsOf(call), TryOf(call), request.options.dry_run);
  return FinishUpdate(call, key, std::move(stored));
}

// An update that outlives the frame of its caller.
struct GenericStore::AsyncUpdate {
  AsyncUpdate(const GenericStore& store, const UpdateRules& rules, const Context& caller,
              std::string_view name, const rest::UpdateRequest& wanted)
      : ctx(caller), request(wanted), call(store.CallOf(rules, ctx, name, request)) {}

  Context ctx;
  const rest::UpdateRequest request;
  std::string key;
  UpdateCall call;
};

void Store::UpdateAsync(const Context& ctx, std::string_view name,
                        const rest::UpdateRequest& request, UpdateDone done) {
  TellUpdated(Update(ctx, name, request), done);
}

void Store::UpdateWithAsync(const UpdateRules& rules, const Context& ctx, std::string_view name,
                            const rest::UpdateRequest& request, UpdateDone done) {
  TellUpdated(UpdateWith(rules.strategy, ctx, name, request, rules.checked), done);
}

void GenericStore::UpdateWithAsync(const UpdateRules& rules, const Context& ctx,
                                   std::string_view name, const rest::UpdateRequest& request,
                                   UpdateDone done) {
  // A rehearsal, a hook and converting elsewhere want a thread in any case.
  const bool told = options_.after_create || options_.after_update || options_.after_write;
  if (request.options.dry_run || told || options_.kind->converter().may_wait()) {
    return Store::UpdateWithAsync(rules, ctx, name, request, std::move(done));
  }
  auto key = KeyFor(ctx, name);
  if (!key.ok()) return done({{}, [error = key.status()](const Context&) { return error; }});
  const auto update = std::make_shared<AsyncUpdate>(*this, rules, ctx, name, request);
  update->key = *std::move(key);
  storage_->GuaranteedUpdateAsync(
      ctx, update->key, OptionsOf(update->call), TryOf(update->call),
      [this, update, done = std::move(done)](storage::Interface::UpdateOutcome outcome) mutable {
        if (outcome.object) {
          return done({{std::move(outcome.object), update->call.creating}, nullptr});
        }
        done({{}, [this, update, rest = std::move(outcome.rest)](const Context& here) mutable {
                update->ctx = update->ctx.WithMayBlock(here.may_block());
                return FinishUpdate(update->call, update->key, rest(here));
              }});
      });
}

}  // namespace apiserver::v0::registry
