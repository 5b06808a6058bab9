#include <set>
#include <string>
#include <utility>

#include "apiserver/meta/errors.h"
#include "apiserver/meta/validation.h"
#include "apiserver/rest/delete.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/time.h"
#include "base/status_macros.h"
#include "registry/dry_run.h"
#include "registry/generic_store.h"

namespace apiserver::v0::registry {
namespace {

using meta::DeletionPropagation;
using rest::GarbageCollectionPolicy;

bool IsCollectorFinalizer(std::string_view finalizer) {
  return finalizer == meta::kFinalizerOrphanDependents ||
         finalizer == meta::kFinalizerDeleteDependents;
}

// Returns the propagation that the options ask for, else the object's finalizers, else the
// strategy.
DeletionPropagation PropagationFor(const runtime::Object& object, GarbageCollectionPolicy policy,
                                   const meta::DeleteOptions& options) {
  if (policy == GarbageCollectionPolicy::kUnsupported) return DeletionPropagation::kBackground;
  if (options.orphan_dependents) {
    return *options.orphan_dependents ? DeletionPropagation::kOrphan
                                      : DeletionPropagation::kBackground;
  }
  if (options.propagation_policy != DeletionPropagation::kUnset) return options.propagation_policy;
  for (const runtime::Value& finalizer : object.finalizers().items()) {
    if (finalizer.AsString() == meta::kFinalizerOrphanDependents) {
      return DeletionPropagation::kOrphan;
    }
    if (finalizer.AsString() == meta::kFinalizerDeleteDependents) {
      return DeletionPropagation::kForeground;
    }
  }
  return policy == GarbageCollectionPolicy::kOrphanDependents ? DeletionPropagation::kOrphan
                                                              : DeletionPropagation::kBackground;
}

void SetFinalizers(runtime::Object& object, const std::vector<std::string>& finalizers) {
  if (finalizers.empty()) return object.Erase("metadata", "finalizers");
  runtime::ListBuilder list(object.arena());
  for (const std::string& finalizer : finalizers) {
    list.Add(runtime::Value::String(object.arena().Copy(finalizer)));
  }
  object.SetPath({"metadata", "finalizers"}, list.Build());
}

// Follows REST.Delete of namespaces and of CustomResourceDefinitions, which word it alike.
Status CheckPreconditions(const runtime::Kind& kind, const runtime::Object& object,
                          const meta::Preconditions& wanted) {
  const auto differs = [&](const char* what, const std::optional<std::string>& given,
                           std::string_view has) -> Status {
    if (!given || *given == has) return {};
    std::string why = "Precondition failed: ";
    why.append(what).append(" in precondition: ").append(*given).append(", ");
    why.append(what).append(" in object meta: ").append(has);
    return meta::NewConflict(kind.group_resource(), object.name(), why);
  };
  RETURN_IF_ERROR(differs("UID", wanted.uid, object.uid()));
  return differs("ResourceVersion", wanted.resource_version, object.resource_version());
}

// Marks an object whose strategy grants no grace: only its finalizers delay the delete.
void MarkAsDeleting(runtime::Object& object, const Clock& clock) {
  if (!object.deleting() && object.generation() > 0) {
    object.Edit("metadata", "generation") = object.generation() + 1;
  }
  const Clock::Wall now = clock.WallNow();
  const auto before = runtime::ParseTime(object.metadata()["deletionTimestamp"].AsString());
  if (!before.ok() || before->ToSystem() > now) {
    object.Edit("metadata", "deletionTimestamp") =
        runtime::FormatTime(runtime::UnixTime::From(now));
  }
  object.Edit("metadata", "deletionGracePeriodSeconds") = 0;
}

}  // namespace

// The state of one delete in progress. It describes the last attempt.
struct GenericStore::DeleteCall {
  enum class Ending : std::uint8_t { kMarked, kDeleteNow, kAlreadyDeleting, kRefused };

  const Context& ctx;
  std::string_view name;
  const std::string& key;
  const rest::ValidateObject& validate;
  meta::DeleteOptions options;
  meta::Preconditions preconditions;

  Ending ending = Ending::kRefused;
  Status refusal = {};
  bool pending_finalizers = false;
  std::int64_t last_grace = 0;
  runtime::ObjectPtr last_existing = nullptr;
};

// The outcome of marking.
struct GenericStore::Marked {
  bool delete_now = false;
  bool ignore_not_found = false;
  bool already_deleting = false;
  runtime::ObjectPtr object = nullptr;  // As stored; null: nothing was stored.
};

// Follows deletionFinalizersForGarbageCollection of registry/store.go; nullopt: nothing changes.
std::optional<std::vector<std::string>> GenericStore::GarbageCollectionFinalizers(
    const Context& ctx, const runtime::Object& object, const meta::DeleteOptions& options) const {
  if (!config_.enable_garbage_collection) return std::nullopt;
  const DeletionPropagation propagation =
      PropagationFor(object, options_.strategy->DefaultGarbageCollectionPolicy(ctx), options);
  std::set<std::string, std::less<>> before;
  std::vector<std::string> after;
  for (const runtime::Value& finalizer : object.finalizers().items()) {
    before.emplace(finalizer.AsString());
    if (!IsCollectorFinalizer(finalizer.AsString())) after.emplace_back(finalizer.AsString());
  }
  if (propagation == DeletionPropagation::kOrphan) {
    after.emplace_back(meta::kFinalizerOrphanDependents);
  } else if (propagation == DeletionPropagation::kForeground) {
    after.emplace_back(meta::kFinalizerDeleteDependents);
  }
  // As sets: neither order nor repetition makes a change.
  if (before == std::set<std::string, std::less<>>(after.begin(), after.end())) return std::nullopt;
  return after;
}

// Runs once for each attempt of GuaranteedUpdate; `call` describes the last one. Follows
// updateForGracefulDeletionAndFinalizers.
Result<storage::Update> GenericStore::TryMark(DeleteCall& call,
                                              const runtime::ObjectPtr& stored) const {
  using Ending = DeleteCall::Ending;
  const auto end = [&call](Ending ending) {
    call.ending = ending;
    return Status(Reason::kUnknown, "nothing to mark");
  };
  call.ending = Ending::kRefused;
  ASSIGN_OR_RETURN(const runtime::ObjectPtr existing, ForRules(call.ctx, stored));
  if (call.validate) RETURN_IF_ERROR(call.validate(call.ctx, *existing));
  ASSIGN_OR_RETURN(
      const rest::Grace grace,
      rest::BeforeDelete(*options_.strategy, call.ctx, *existing, call.options, *config_.clock));
  if (grace.pending) return end(Ending::kAlreadyDeleting);

  auto object = existing->Clone();
  if (MarksItself(*existing)) {
    object->Edit("metadata", "deletionTimestamp") =
        runtime::FormatTime(runtime::UnixTime::From(config_.clock->WallNow()));
    options_.mark_deleted(*object, call.options);
    call.pending_finalizers = object->finalizers().size() > 0 || options_.stays_deleted != nullptr;
    call.ending = Ending::kMarked;
    return storage::Update{.object = std::move(object), .ttl = std::nullopt};
  }
  if (grace.graceful) grace.Apply(*object);
  if (auto finalizers = GarbageCollectionFinalizers(call.ctx, *existing, call.options)) {
    SetFinalizers(*object, *finalizers);
  }
  call.pending_finalizers = object->finalizers().size() > 0;
  if (!grace.graceful) {
    if (!call.pending_finalizers) return end(Ending::kDeleteNow);
    MarkAsDeleting(*object, *config_.clock);
  } else {
    call.last_grace = grace.grace_period_seconds;
    call.last_existing = existing;
  }
  call.ending = Ending::kMarked;
  storage::Update update;
  update.object = std::move(object);
  return update;
}

// Errors of TryMark are told from those of the storage by comparing: the storage returns them as
// they are.
Result<GenericStore::Marked> GenericStore::MarkForDeletion(DeleteCall& call,
                                                           const runtime::ObjectPtr& first) {
  using Ending = DeleteCall::Ending;
  storage::UpdateOptions options;
  options.preconditions = call.preconditions;
  const auto try_update = [this, &call](const runtime::ObjectPtr& existing) {
    auto update = TryMark(call, existing);
    call.refusal = update.status();
    return update;
  };
  auto stored = Write(call.ctx, call.key, options, try_update, call.options.dry_run);
  Marked marked;
  if (stored.ok()) {
    marked.object = std::move(*stored);
    marked.delete_now = !call.pending_finalizers && call.last_grace == 0;
    // Another request may complete the delete first.
    marked.ignore_not_found = marked.delete_now;
    return marked;
  }
  if (stored.status() != call.refusal) {
    return Interpret(stored.status(), Verb::kUpdate, call.name);
  }
  if (call.ending == Ending::kRefused) return call.refusal;
  marked.delete_now = call.ending == Ending::kDeleteNow;
  marked.already_deleting = call.ending == Ending::kAlreadyDeleting;
  if (marked.already_deleting) marked.object = first;
  return marked;
}

Result<runtime::ObjectPtr> GenericStore::Remove(const Context& ctx, const std::string& key,
                                                const storage::UpdateOptions& options,
                                                const rest::ValidateObject& validate,
                                                bool dry_run) {
  return dry_run ? RehearseDelete(*storage_, ctx, key, options, validate)
                 : storage_->Delete(ctx, key, options, validate);
}

// Admission sees the hub version, whichever version is stored.
Status GenericStore::ValidateStored(const Context& ctx, const rest::ValidateObject& validate,
                                    const runtime::Object& stored) const {
  const std::string& version = options_.kind->hub_version();
  if (stored.version() == version) return validate(ctx, stored);
  const std::unique_ptr<runtime::Object> seen = stored.Clone();
  RETURN_IF_ERROR(runtime::Convert(ctx, *seen, version));
  return validate(ctx, *seen);
}

Result<rest::DeleteResult> GenericStore::FinishDelete(const DeleteCall& call,
                                                      const runtime::ObjectPtr& object,
                                                      bool run_hooks, bool immediately) const {
  if (run_hooks) RETURN_IF_ERROR(Tell(call.ctx, options_.after_delete, object));
  rest::DeleteResult result;
  result.deleted_immediately = immediately;
  if (options_.return_deleted_object) {
    result.object = object;
    return result;
  }
  result.details.name = object->name();
  result.details.group = options_.kind->group();
  result.details.kind = options_.kind->plural();
  result.details.uid = object->uid();
  return result;
}

// Follows registry.Store.Delete: mark for deletion if something must happen first, else delete.
// Both may race with other requests, hence the preconditions.
Result<rest::DeleteResult> GenericStore::Delete(const Context& ctx, std::string_view name,
                                                const rest::ValidateObject& validate,
                                                const meta::DeleteOptions& options) {
  ASSIGN_OR_RETURN(const std::string key, KeyFor(ctx, name));
  auto read = storage_->Get(ctx, key, {});
  if (!read.ok()) return Interpret(read.status(), Verb::kDelete, name);
  // Rules and hooks see the hub version; storage keeps its own.
  ASSIGN_OR_RETURN(const runtime::ObjectPtr first, ForRules(ctx, *read));

  if (options_.mark_deleted) {
    RETURN_IF_ERROR(CheckPreconditions(*options_.kind, *first, options.preconditions));
  }
  DeleteCall call{ctx, name, key, validate, options, options.preconditions};
  ASSIGN_OR_RETURN(const rest::Grace grace, rest::BeforeDelete(*options_.strategy, ctx, *first,
                                                               call.options, *config_.clock));
  if (grace.pending) return FinishDelete(call, first, false, false);

  if (first->deleting() && Stays(*first)) return FinishDelete(call, first, false, false);

  const bool run_hooks = !options.dry_run;
  Marked marked;
  marked.delete_now = true;
  const bool mark = MarksItself(*first) || grace.graceful || first->finalizers().size() > 0 ||
                    GarbageCollectionFinalizers(ctx, *first, call.options).has_value();
  if (mark) {
    ASSIGN_OR_RETURN(marked, MarkForDeletion(call, first));
    if (marked.already_deleting) return FinishDelete(call, marked.object, run_hooks, false);
    if (!marked.delete_now || (options.dry_run && marked.object != nullptr)) {
      rest::DeleteResult result;
      result.object = std::move(marked.object);
      result.deleted_immediately = marked.delete_now;
      return result;
    }
    if (marked.object != nullptr && call.preconditions.resource_version) {
      // Our own mark has changed it.
      call.preconditions.resource_version = std::string(marked.object->resource_version());
    }
  }

  storage::UpdateOptions last;
  last.preconditions = call.preconditions;
  Status refusal;
  const auto checked = [&](const Context& work, const runtime::Object& object) {
    if (!validate) return Status();
    // As it was read: it need not be converted once more.
    const bool same =
        object.stored_bytes() != nullptr && object.stored_bytes() == (*read)->stored_bytes();
    return refusal = same ? validate(work, *first) : ValidateStored(work, validate, object);
  };
  // The storage runs `checked` on the object that it removes, which may be newer than `first`.
  auto removed = Remove(ctx, key, last, checked, options.dry_run);
  if (removed.ok()) return FinishDelete(call, *removed, run_hooks, true);
  if (removed.status().reason() == Reason::kNotFound && marked.ignore_not_found &&
      call.last_existing != nullptr) {
    return FinishDelete(call, call.last_existing, run_hooks, true);
  }
  if (!refusal.ok() && removed.status() == refusal) return refusal;
  return Interpret(removed.status(), Verb::kDelete, name);
}

}  // namespace apiserver::v0::registry
