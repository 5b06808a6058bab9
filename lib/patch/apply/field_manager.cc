#include "apiserver/patch/apply/field_manager.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "apiserver/meta/errors.h"
#include "apiserver/meta/managed_fields.h"
#include "apiserver/patch/apply/managed_fields.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"
#include "patch/apply/conflict_error.h"
#include "patch/apply/created_fields.h"
#include "patch/apply/kept_owners.h"
#include "patch/apply/last_applied.h"
#include "patch/apply/managers.h"
#include "patch/apply/owner.h"
#include "patch/apply/structured_merge.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Value;

// The annotation lets only this manager take over fields without a conflict.
constexpr std::string_view kKubectl = "kubectl";
constexpr std::string_view kBeforeFirstApply = "before-first-apply";
// Stands for the manager of an update until it is known whether that changed anything.
constexpr std::string_view kCurrentOperation = "current-operation";

Managed OrEmpty(Result<Managed> managed) { return managed.ok() ? *std::move(managed) : Managed(); }

// Returns the owners before the change: those sent with the object, if they can be read, else the
// live ones.
Managed DecodeLiveOrNew(Value live, Value sent, bool ignore_sent, runtime::Arena& arena) {
  if (!ignore_sent) {
    if (meta::IsResetManagedFields(sent)) return {};
    auto managed = DecodeManagedFields(sent, arena);
    if (managed.ok() && !managed->fields.empty()) return *std::move(managed);
  }
  return OrEmpty(DecodeManagedFields(live, arena));
}

void SetManagedFields(runtime::Object& object, Value entries) {
  if (entries.is_null()) {
    if (object.metadata().Find("managedFields") != nullptr) {
      object.Erase("metadata", "managedFields");
    }
    return;
  }
  object.SetPath({"metadata", "managedFields"}, entries);
}

Status FailedTo(std::string_view what, const Status& why) {
  return {Reason::kUnknown, std::string(what) + ": " + std::string(why.message())};
}

// Returns the conflicts whose field is not in `allowed`.
std::vector<Conflict> Remaining(std::vector<Conflict> conflicts, FieldSet allowed) {
  std::erase_if(conflicts,
                [allowed](const Conflict& conflict) { return allowed.Has(conflict.path); });
  return conflicts;
}

// True if the identifier of an entry keeps `manager` as it is.
bool IsPlain(std::string_view manager) {
  return std::ranges::all_of(manager, [](char c) { return c >= ' ' && c <= '~'; });
}

// True if one of the entries of managedFields is of an apply by `manager`.
bool HasApplied(Value entries, std::string_view manager) {
  return std::ranges::any_of(entries.items(), [manager](const Value& entry) {
    return entry["manager"].AsString() == manager && entry["operation"].AsString() == kApply;
  });
}

}  // namespace

// Upstream has a chain of Managers; each is a step of Track or ApplyOnce here.
class FieldManager::Impl {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)),
        merge_(options_.types, options_.version, options_.reset_fields) {}

  Status Update(const Context& ctx, const runtime::Object* live, runtime::Object& object,
                std::string_view manager) const {
    runtime::Arena scratch;
    const Work work{ctx, scratch};
    const Value before = live != nullptr ? live->metadata()["managedFields"] : Value();
    std::optional<Difference> difference;
    if (live != nullptr && KeepOwners({*live, before, object, manager}, work, difference)) {
      return {};
    }
    Managed managed = DecodeLiveOrNew(before, object.metadata()["managedFields"],
                                      !options_.subresource.empty(), scratch);
    // An object without owners is not tracked before the next apply, as by skipNonAppliedManager.
    if (managed.fields.empty() && live != nullptr && !live->uid().empty()) {
      SetManagedFields(object, Value());
      return {};
    }
    if (!difference) {
      ASSIGN_OR_RETURN(const Value now, merge_.ToVersioned(object, work));
      difference = Difference{.was = merge_.empty(), .now = now, .changes = std::nullopt};
      if (live != nullptr) {
        ASSIGN_OR_RETURN(difference->was, merge_.ToVersioned(*live, work));
      }
    }
    if (live == nullptr && managed.fields.empty()) {
      return OwnCreated(*difference, manager, object, work);
    }
    RETURN_IF_ERROR(Track(*difference, manager, managed, work));
    ASSIGN_OR_RETURN(const Value encoded, EncodeManagedFields(managed, object.arena()));
    SetManagedFields(object, encoded);
    return {};
  }

  Result<std::unique_ptr<runtime::Object>> Apply(const Context& ctx, const runtime::ObjectPtr& live,
                                                 const AppliedConfigurationPtr& applied,
                                                 std::string_view manager, bool force) const {
    RETURN_IF_ERROR(CheckConfiguration(applied->root));
    runtime::Arena arena;
    const Work work{ctx, arena};
    // The result shares what did not change.
    arena.Pin(live);
    arena.Pin(applied);
    const Value config =
        runtime::Without(runtime::Without(applied->root, "apiVersion", arena), "kind", arena);
    if (live != nullptr) {
      if (auto merged = MergeIfOwnersStay(*live, config, manager, work)) {
        const auto encode = [&merged](bool share, runtime::Arena& to) -> Result<Value> {
          return std::move(merged->owners).Encode(share, to);
        };
        return Finish(live, merged->content, {applied->root, manager}, encode, work);
      }
    }
    Managed managed;
    Value was = merge_.empty();
    if (live != nullptr) {
      auto decoded = DecodeManagedFields(live->metadata()["managedFields"], arena);
      if (!decoded.ok()) return FailedTo("failed to decode managed fields", decoded.status());
      managed = *std::move(decoded);
      ASSIGN_OR_RETURN(was, merge_.ToVersioned(*live, work));
    }
    if (managed.fields.empty()) {
      const Status tracked = Track({.was = merge_.empty(), .now = was, .changes = std::nullopt},
                                   kBeforeFirstApply, managed, work);
      if (!tracked.ok()) return FailedTo("failed to create manager for existing fields", tracked);
    }
    const Attempt attempt{.live = was, .config = config, .manager = manager, .force = force};
    ASSIGN_OR_RETURN(const std::optional<Value> merged, ApplyOrTakeOver(attempt, managed, work));
    const auto encode = [&managed](bool, runtime::Arena& to) {
      return EncodeManagedFields(managed, to);
    };
    return Finish(live, merged, {applied->root, manager}, encode, work);
  }

 private:
  struct Attempt {
    Value live;
    Value config;
    std::string_view manager;
    bool force = false;
  };
  struct Outcome {
    Value applied;
    std::string_view manager;
  };
  // Returns managedFields in an arena; they may share what the live object has if `share`.
  using EncodeOwners = std::function<Result<Value>(bool share, runtime::Arena& to)>;

  // An apply that leaves all owners as they are.
  struct Merged {
    std::optional<Value> content;  // Nullopt: that of the live object.
    KeptOwners owners;
  };

  // An update by `manager`.
  struct Change {
    const runtime::Object& live;
    Value owners;  // Those of `live`.
    runtime::Object& object;
    std::string_view manager;
  };

  // The content of an object before and after an update.
  struct Difference {
    Value was;
    Value now;
    std::optional<Comparison> changes;  // Nullopt: not known.
  };

  // Makes `manager` the one owner of the fields of `object`, which is to be created.
  Status OwnCreated(const Difference& difference, std::string_view manager, runtime::Object& object,
                    const Work& work) const {
    std::string form = IsPlain(manager) ? CreatedFields::FormOf(difference.now) : std::string();
    if (!form.empty()) {
      if (const auto fields = created_.Find(form)) {
        const Value text = Value::Raw(object.arena().Copy(*fields));
        SetManagedFields(object,
                         ListOfOwners({{InfoOf(manager, kUpdate), Now(), text}}, object.arena()));
        return {};
      }
    }
    Managed managed;
    RETURN_IF_ERROR(Track(difference, manager, managed, work));
    ASSIGN_OR_RETURN(const Value encoded, EncodeManagedFields(managed, object.arena()));
    SetManagedFields(object, encoded);
    if (!form.empty() && encoded.size() == 1) {
      created_.Add(std::move(form), encoded.items().front()["fieldsV1"].AsString());
    }
    return {};
  }

  // Sets the owners of an object that has none, or those of `live`, if the update neither gives nor
  // takes a field. Returns false if that cannot be told without their sets; `difference` may then
  // be set.
  bool KeepOwners(const Change& change, const Work& work,
                  std::optional<Difference>& difference) const {
    const Value sent = change.object.metadata()["managedFields"];
    // A patch leaves the very list where it is.
    const bool shared = sent.is_list() && sent.items().data() == change.owners.items().data();
    if (!shared && !sent.is_null()) return false;
    auto kept = KeptOwners::Read(change.owners, merge_.api_version(), merge_.type().type(),
                                 options_.update_managers_max);
    if (!kept) return false;
    const auto now = merge_.ToVersioned(change.object, work);
    const auto was = merge_.ToVersioned(change.live, work);
    if (!now.ok() || !was.ok()) return false;
    auto changes = merge_.Compare(*was, *now, work);
    if (!changes.ok()) return false;
    difference = Difference{.was = *was, .now = *now, .changes = *std::move(changes)};
    const Owner writer{
        .info = InfoOf(change.manager, kUpdate), .time = Now(), .fields_v1 = Value()};
    if (!kept->Stay(*difference->changes, NobodysFields(), writer)) return false;
    SetManagedFields(change.object, std::move(*kept).Encode(shared, change.object.arena()));
    return true;
  }

  // Merges the configuration of a manager that applied the same fields before and now changes only
  // fields that it alone owns. Nullopt: it does not, or only decoding the owners' sets can tell.
  std::optional<Merged> MergeIfOwnersStay(const runtime::Object& live, Value config,
                                          std::string_view manager, const Work& work) const {
    const Owner applier{.info = InfoOf(manager, kApply), .time = Now(), .fields_v1 = Value()};
    const Value entries = live.metadata()["managedFields"];
    if (!HasApplied(entries, applier.info.manager)) return std::nullopt;
    auto kept = KeptOwners::Read(entries, merge_.api_version(), merge_.type().type(),
                                 std::numeric_limits<std::size_t>::max());
    if (!kept) return std::nullopt;
    const auto fields = merge_.FieldsOf(config, work);
    if (!fields.ok() || !*fields ||
        !kept->HasJust(applier.info, (*fields)->Difference(NobodysFields(), work.arena))) {
      return std::nullopt;
    }
    const auto was = merge_.ToVersioned(live, work);
    if (!was.ok()) return std::nullopt;
    const auto merged = merge_.Merge(*was, config, work);
    if (!merged.ok() || !kept->OthersStay(applier.info, merged->changes)) return std::nullopt;
    if (!merged->changed) return Merged{std::nullopt, *std::move(kept)};
    kept->SetTime(applier);
    return Merged{merged->object, *std::move(kept)};
  }

  ManagerInfo InfoOf(std::string_view manager, std::string_view operation) const {
    return {.manager = std::string(manager.empty() ? "unknown" : manager),
            .operation = std::string(operation),
            .api_version = merge_.api_version(),
            .subresource = options_.subresource};
  }

  std::string IdentifierOf(std::string_view manager, std::string_view operation) const {
    return BuildManagerIdentifier(InfoOf(manager, operation));
  }

  runtime::UnixTime Now() const { return runtime::UnixTime::From(options_.clock->WallNow()); }

  // Updates `managed` after `manager` has made this difference.
  Status Track(const Difference& difference, std::string_view manager, Managed& managed,
               const Work& work) const {
    runtime::Arena& arena = work.arena;
    const std::string self(kCurrentOperation);
    const auto& changes = difference.changes;
    ASSIGN_OR_RETURN(managed.fields, merge_.Update({.live = difference.was,
                                                    .now = difference.now,
                                                    .managers = std::move(managed.fields),
                                                    .manager = self,
                                                    .changes = changes ? &*changes : nullptr},
                                                   work));
    StripFields(managed.fields, self, arena);
    if (auto changed = managed.fields.extract(self); !changed.empty()) {
      const std::string identifier = IdentifierOf(manager, kUpdate);
      VersionedSet& fields = changed.mapped();
      const auto previous = managed.fields.find(identifier);
      if (previous != managed.fields.end()) {
        fields.set = fields.set.Union(previous->second.set, arena);
      }
      managed.fields.insert_or_assign(identifier, std::move(fields));
      managed.times.insert_or_assign(identifier, Now());
    }
    CapUpdateManagers(managed, options_.update_managers_max, arena);
    return {};
  }

  Status CheckConfiguration(Value applied) const {
    const auto gv = runtime::GroupVersion::Parse(applied["apiVersion"].AsString());
    const std::string_view kind = applied["kind"].AsString();
    if (applied["apiVersion"].AsString() != merge_.api_version() || kind != merge_.kind().kind()) {
      return meta::NewBadRequest("invalid object type: " + gv.group + "/" + gv.version +
                                 ", Kind=" + std::string(kind));
    }
    if (applied["metadata"]["managedFields"].is_list()) {
      return meta::NewBadRequest("metadata.managedFields must be nil");
    }
    return {};
  }

  // Returns the merged content, or nullopt if nothing changed. kConflict.
  Result<std::optional<Value>> ApplyOrTakeOver(const Attempt& attempt, Managed& managed,
                                               const Work& work) const {
    runtime::Arena& arena = work.arena;
    ASSIGN_OR_RETURN(Updater::Applied applied,
                     ApplyOnce(attempt, attempt.force, managed.fields, work));
    if (!applied.conflicts.empty() && attempt.manager == kKubectl) {
      const auto allowed = AllowedConflictsFromLastApplied(merge_, attempt.live, arena);
      if (allowed.ok()) applied.conflicts = Remaining(std::move(applied.conflicts), *allowed);
      if (applied.conflicts.empty()) {
        ASSIGN_OR_RETURN(applied, ApplyOnce(attempt, /*force=*/true, managed.fields, work));
      }
    }
    if (!applied.conflicts.empty()) return NewConflictError(applied.conflicts);
    const std::string identifier = IdentifierOf(attempt.manager, kApply);
    managed.fields = std::move(applied.managers);
    StripFields(managed.fields, identifier, arena);
    if (applied.changed) managed.times.insert_or_assign(identifier, Now());
    if (!applied.changed) return std::optional<Value>();
    return std::optional<Value>(applied.object.value());
  }

  Result<Updater::Applied> ApplyOnce(const Attempt& attempt, bool force, const Managers& managers,
                                     const Work& work) const {
    return merge_.Apply({.live = attempt.live,
                         .config = attempt.config,
                         .managers = managers,
                         .manager = IdentifierOf(attempt.manager, kApply),
                         .force = force},
                        work);
  }

  // Returns the merged content (nullopt: `live` as it is) as an object in the hub version, with its
  // owners.
  Result<std::unique_ptr<runtime::Object>> Finish(const runtime::ObjectPtr& live,
                                                  std::optional<Value> merged,
                                                  const Outcome& outcome,
                                                  const EncodeOwners& encode,
                                                  const Work& work) const {
    std::unique_ptr<runtime::Object> object;
    const bool pins_live = merged || live == nullptr;
    if (pins_live) {
      object = std::make_unique<runtime::Object>(options_.types->kind(), options_.version,
                                                 std::move(work.arena),
                                                 merged ? *merged : merge_.empty());
      RETURN_IF_ERROR(Settle(*object));
      RETURN_IF_ERROR(runtime::Convert(work.ctx, *object, merge_.kind().hub_version()));
    } else {
      object = live->Clone();
    }
    if (outcome.manager == kKubectl && HasLastApplied(*object)) {
      SetLastApplied(*object, BuildLastApplied(outcome.applied));
    }
    ASSIGN_OR_RETURN(const Value encoded, encode(pins_live, object->arena()));
    SetManagedFields(*object, encoded);
    return object;
  }

  // Normalizes and defaults the merged content as if it had been decoded.
  Status Settle(runtime::Object& object) const {
    const runtime::Value typed = object.root();
    Status settled =
        runtime::Settle(object, {.growth_max = runtime::kPatchedGrowthMax, .keep_nulls = true});
    if (settled.reason() == Reason::kRequestEntityTooLarge) return settled;
    if (!settled.ok()) {
      const runtime::GroupVersionKind gvk = merge_.kind().gvk(options_.version);
      return FailedTo("failed to convert new object (" + merge_.Describe(typed) +
                          ") to proper version: unable to convert unstructured object to " +
                          gvk.group_version().ToString() + ", Kind=" + gvk.kind,
                      settled);
    }
    return {};
  }

  const Options options_;
  const StructuredMerge merge_;
  mutable CreatedFields created_;
};

FieldManager::FieldManager(Options options)
    : impl_(std::make_unique<const Impl>(std::move(options))) {}
FieldManager::~FieldManager() = default;

void FieldManager::Update(const Context& ctx, const runtime::Object* live, runtime::Object& object,
                          std::string_view manager) const {
  if (impl_->Update(ctx, live, object, manager).ok()) return;
  const Value before = live != nullptr ? live->metadata()["managedFields"] : Value();
  SetManagedFields(object, runtime::Copy(before, object.arena()));
}

Result<std::unique_ptr<runtime::Object>> FieldManager::Apply(const Context& ctx,
                                                             const runtime::ObjectPtr& live,
                                                             const AppliedConfigurationPtr& applied,
                                                             std::string_view manager,
                                                             bool force) const {
  return impl_->Apply(ctx, live, applied, manager, force);
}

}  // namespace apiserver::v0::patch::apply
