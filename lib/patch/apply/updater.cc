#include "apiserver/patch/apply/updater.h"

#include <utility>

#include "base/status_macros.h"
#include "patch/apply/type.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Arena;

// Adds the context of the outer step to an error of an inner one.
template <class T>
Result<T> Explained(Result<T> result, std::string_view what) {
  if (result.ok()) return result;
  const Status status = result.status();
  return status.WithMessage(std::string(what) + ": " + std::string(status.message()));
}

// An object, and the version it is in.
struct Versioned {
  TypedValue object;
  std::string version;
};

}  // namespace

// One write.
class Updater::Run {
 public:
  Run(const Updater& updater, Arena& arena)
      : converter_(updater.converter_), filters_(updater.filters_), arena_(arena) {}

  // Adapts the sets to changes of the schema; drops versions that are gone.
  void ReconcileManagers(Managers& managers) const;
  // Removes fields that `object` changes from other managers; returns their conflicts unless
  // `force`.
  Result<Comparison> TakeFromOthers(const Versioned& live, const Versioned& object, Write& write,
                                    std::vector<Conflict>& conflicts) const;
  // Removes from `merged` the fields that `last` has and no manager owns any longer.
  Result<Versioned> Prune(const Versioned& merged, const Write& write,
                          const std::optional<VersionedSet>& last) const;

  const FieldFilter* FilterOf(std::string_view version) const {
    if (filters_ == nullptr) return nullptr;
    const auto found = filters_->find(version);
    return found == filters_->end() ? nullptr : &found->second;
  }
  FieldSet Filtered(FieldSet set, std::string_view version) const {
    const FieldFilter* const filter = FilterOf(version);
    return filter == nullptr ? set : filter->Filter(set, arena_);
  }

 private:
  // Nullopt: the version is gone.
  Result<std::optional<Versioned>> Convert(const Versioned& object, const std::string& to) const;
  Result<Comparison> CompareIn(const Versioned& live, const Versioned& object) const;
  Result<std::optional<Comparison>> CompareConverted(const Versioned& live, const Versioned& object,
                                                     const std::string& version) const;
  Result<Versioned> AddBackOwned(Versioned merged, Versioned pruned,
                                 const Managers& managers) const;
  Status AddBackOwnedIn(Versioned& merged, Versioned& pruned, const std::string& version,
                        FieldSet managed) const;
  Result<Versioned> AddBackDangling(const Versioned& merged, const Versioned& pruned,
                                    const VersionedSet& last) const;
  Result<FieldSet> NamedFieldsOf(const TypedValue& object) const;

  // An earlier answer of NamedFieldsOf().
  struct Known {
    const runtime::Member* members;
    const Type* type;
    FieldSet set;
  };

  const Converter& converter_;
  const FieldFilters* filters_;
  Arena& arena_;
  mutable std::vector<Known> known_;
};

Result<std::optional<Versioned>> Updater::Run::Convert(const Versioned& object,
                                                       const std::string& to) const {
  if (object.version == to) return std::optional(object);
  const ParseableType* const type = converter_.TypeOf(to);
  if (type == nullptr) return std::optional<Versioned>();
  ASSIGN_OR_RETURN(const runtime::Value value,
                   converter_.Convert(object.object.value(), object.version, to, arena_));
  // Pruning may leave values that are valid in no version, such as items without their keys.
  ASSIGN_OR_RETURN(const TypedValue typed, AsTyped(value, *type, {.allow_duplicates = true}));
  return std::optional(Versioned{typed, to});
}

// Follows reconcileManagedFieldsWithSchemaChanges in structured-merge-diff's merge package.
void Updater::Run::ReconcileManagers(Managers& managers) const {
  for (auto at = managers.begin(); at != managers.end();) {
    VersionedSet& owned = at->second;
    const ParseableType* const type = converter_.TypeOf(owned.api_version);
    if (type == nullptr) {
      at = managers.erase(at);
      continue;
    }
    if (const auto set = ReconcileFieldSetWithSchema(owned.set, type->type(), arena_)) {
      owned.set = *set;
    }
    ++at;
  }
}

Result<Comparison> Updater::Run::CompareIn(const Versioned& live, const Versioned& object) const {
  ASSIGN_OR_RETURN(Comparison comparison, Explained(live.object.Compare(object.object, arena_),
                                                    "failed to compare objects"));
  comparison.removed = Filtered(comparison.removed, live.version);
  comparison.modified = Filtered(comparison.modified, live.version);
  comparison.added = Filtered(comparison.added, live.version);
  return comparison;
}

Result<std::optional<Comparison>> Updater::Run::CompareConverted(const Versioned& live,
                                                                 const Versioned& object,
                                                                 const std::string& version) const {
  ASSIGN_OR_RETURN(const std::optional<Versioned> old_object,
                   Explained(Convert(live, version), "failed to convert old object"));
  if (!old_object) return std::optional<Comparison>();
  ASSIGN_OR_RETURN(const std::optional<Versioned> new_object,
                   Explained(Convert(object, version), "failed to convert new object"));
  if (!new_object) return std::optional<Comparison>();
  ASSIGN_OR_RETURN(Comparison comparison, CompareIn(*old_object, *new_object));
  return std::optional(comparison);
}

// Follows Updater.update. The objects are compared once per version in which others own fields.
Result<Comparison> Updater::Run::TakeFromOthers(const Versioned& live, const Versioned& object,
                                                Write& write,
                                                std::vector<Conflict>& conflicts) const {
  ASSIGN_OR_RETURN(const Comparison comparison, write.changes != nullptr
                                                    ? Result<Comparison>(*write.changes)
                                                    : CompareIn(live, object));
  std::map<std::string, std::optional<Comparison>, std::less<>> versions;
  versions.emplace(live.version, comparison);
  Managers left;
  for (const auto& [manager, owned] : write.managers) {
    if (manager == write.manager) {
      left.emplace(manager, owned);
      continue;
    }
    auto known = versions.find(owned.api_version);
    if (known == versions.end()) {
      ASSIGN_OR_RETURN(const std::optional<Comparison> converted,
                       CompareConverted(live, object, owned.api_version));
      known = versions.emplace(owned.api_version, converted).first;
    }
    // Managers of a version that is gone are gone, too.
    if (!known->second) continue;
    const Comparison& changes = *known->second;
    VersionedSet rest = owned;
    const FieldSet changed = changes.modified.Union(changes.added, arena_);
    const FieldSet taken = owned.set.Intersection(changed, arena_);
    if (!write.force) {
      taken.Iterate([&conflicts, &name = manager](PathView path) {
        conflicts.push_back({name, Path(path.begin(), path.end())});
      });
    }
    rest.set = rest.set.Difference(taken, arena_).Difference(changes.removed, arena_);
    left.emplace(manager, std::move(rest));
  }
  if (!conflicts.empty()) return comparison;
  std::erase_if(left, [](const auto& owner) { return owner.second.set.Empty(); });
  write.managers = std::move(left);
  return comparison;
}

Result<FieldSet> Updater::Run::NamedFieldsOf(const TypedValue& object) const {
  const auto* const members = object.value().members().data();
  // Objects are immutable: one with the same members is the same.
  for (const Known& known : known_) {
    if (members != nullptr && known.members == members && known.type == &object.type()) {
      return known.set;
    }
  }
  ASSIGN_OR_RETURN(const FieldSet set, object.ToFieldSet(arena_));
  known_.push_back(
      {members, &object.type(), EnsureNamedFieldsAreMembers(set, object.type(), arena_)});
  return known_.back().set;
}

// Rebuilds the pruned object from the merged one, in `version`: with the fields that survived the
// pruning and those that a manager owns.
Status Updater::Run::AddBackOwnedIn(Versioned& merged, Versioned& pruned,
                                    const std::string& version, FieldSet managed) const {
  ASSIGN_OR_RETURN(
      const auto merged_there,
      Explained(Convert(merged, version), "failed to convert merged object at version " + version));
  if (!merged_there) return {};
  ASSIGN_OR_RETURN(
      const auto pruned_there,
      Explained(Convert(pruned, version), "failed to convert pruned object at version " + version));
  merged = *merged_there;
  if (!pruned_there) return {};
  ASSIGN_OR_RETURN(
      const FieldSet all,
      Explained(NamedFieldsOf(merged.object),
                "failed to create field set from merged object at version " + version));
  ASSIGN_OR_RETURN(
      const FieldSet kept,
      Explained(NamedFieldsOf(pruned_there->object),
                "failed to create field set from pruned object at version " + version));
  const FieldSet wanted =
      kept.Union(EnsureNamedFieldsAreMembers(managed, merged.object.type(), arena_), arena_);
  pruned = {merged.object.RemoveItems(all.Difference(wanted, arena_), arena_), version};
  return {};
}

// Follows addBackOwnedItems: what another manager owns is not pruned.
Result<Versioned> Updater::Run::AddBackOwned(Versioned merged, Versioned pruned,
                                             const Managers& managers) const {
  std::map<std::string, FieldSet> managed;
  for (const auto& [manager, owned] : managers) {
    FieldSet& set = managed[owned.api_version];
    set = set.Union(owned.set, arena_);
  }
  // First in the version that was pruned: a missing field may be needed to convert.
  const std::string first = pruned.version;
  if (const auto at = managed.find(first); at != managed.end()) {
    RETURN_IF_ERROR(AddBackOwnedIn(merged, pruned, first, at->second));
    managed.erase(at);
  }
  for (const auto& [version, set] : managed) {
    RETURN_IF_ERROR(AddBackOwnedIn(merged, pruned, version, set));
  }
  return pruned;
}

// Restores fields that pruning removed although the writer never owned them.
Result<Versioned> Updater::Run::AddBackDangling(const Versioned& merged, const Versioned& pruned,
                                                const VersionedSet& last) const {
  ASSIGN_OR_RETURN(const auto pruned_there,
                   Explained(Convert(pruned, last.api_version),
                             "failed to convert pruned object to last applied version"));
  if (!pruned_there) return merged;
  ASSIGN_OR_RETURN(const FieldSet kept,
                   Explained(NamedFieldsOf(pruned_there->object),
                             "failed to create field set from pruned object in last applied "
                             "version"));
  ASSIGN_OR_RETURN(const FieldSet all,
                   Explained(NamedFieldsOf(merged.object),
                             "failed to create field set from merged object in last applied "
                             "version"));
  const FieldSet owned = EnsureNamedFieldsAreMembers(last.set, merged.object.type(), arena_);
  const FieldSet gone = all.Difference(kept, arena_).Intersection(owned, arena_);
  return Versioned{merged.object.RemoveItems(gone, arena_), merged.version};
}

// Follows Updater.prune.
Result<Versioned> Updater::Run::Prune(const Versioned& merged, const Write& write,
                                      const std::optional<VersionedSet>& last) const {
  if (!last || last->set.Empty()) return merged;
  const FieldFilter* const filter = FilterOf(write.version);
  if (last->api_version == write.version && (filter == nullptr || filter->excludes())) {
    // A client that applies everything it applied before removes nothing: every field of `last` and
    // every item on the way to it is in the new set, so that all of it would be added back.
    const FieldSet now = write.managers.find(write.manager)->second.set;
    if (last->set.Difference(now, arena_).Empty()) return merged;
  }
  ASSIGN_OR_RETURN(const auto there,
                   Explained(Convert(merged, last->api_version),
                             "failed to convert merged object to last applied version"));
  if (!there) return merged;
  const FieldSet named = EnsureNamedFieldsAreMembers(last->set, there->object.type(), arena_);
  Versioned pruned{there->object.RemoveItems(named, arena_), there->version};
  ASSIGN_OR_RETURN(pruned, Explained(AddBackOwned(*there, pruned, write.managers),
                                     "failed add back owned items"));
  ASSIGN_OR_RETURN(
      pruned, Explained(AddBackDangling(*there, pruned, *last), "failed add back dangling items"));
  ASSIGN_OR_RETURN(const auto back, Convert(pruned, merged.version));
  return back.value_or(merged);
}

Result<Managers> Updater::Update(const TypedValue& live, const TypedValue& object, Write write,
                                 Arena& arena) const {
  const Run run(*this, arena);
  write.force = true;
  run.ReconcileManagers(write.managers);
  const std::string version(write.version);
  std::vector<Conflict> none;
  ASSIGN_OR_RETURN(const Comparison changes,
                   run.TakeFromOthers({live, version}, {object, version}, write, none));
  const auto found = write.managers.find(write.manager);
  FieldSet set = found == write.managers.end() ? FieldSet() : found->second.set;
  set = set.Difference(changes.removed, arena).Union(changes.modified, arena);
  set = run.Filtered(set.Union(changes.added, arena), write.version);
  if (found != write.managers.end()) write.managers.erase(found);
  if (!set.Empty()) write.managers.emplace(write.manager, VersionedSet{set, version, false});
  return std::move(write.managers);
}

Result<Updater::Applied> Updater::Apply(const TypedValue& live, const TypedValue& config,
                                        Write write, Arena& arena) const {
  const Run run(*this, arena);
  write.changes = nullptr;  // Those of the merged object are not known yet.
  run.ReconcileManagers(write.managers);
  ASSIGN_OR_RETURN(const TypedValue merged,
                   Explained(live.Merge(config, arena), "failed to merge config"));
  ASSIGN_OR_RETURN(FieldSet set, Explained(config.ToFieldSet(arena), "failed to get field set"));
  set = run.Filtered(set, write.version);
  const std::string version(write.version);
  std::optional<VersionedSet> last;
  if (const auto found = write.managers.find(write.manager); found != write.managers.end()) {
    last = found->second;
  }
  write.managers.insert_or_assign(std::string(write.manager), VersionedSet{set, version, true});
  ASSIGN_OR_RETURN(const Versioned pruned,
                   Explained(run.Prune({merged, version}, write, last), "failed to prune fields"));
  Applied applied{.conflicts = {}, .managers = {}, .object = pruned.object};
  ASSIGN_OR_RETURN(const Comparison changes,
                   run.TakeFromOthers({live, version}, pruned, write, applied.conflicts));
  if (!applied.conflicts.empty()) return applied;
  applied.managers = std::move(write.managers);
  // Objects without differences may still have items in another order.
  applied.changed = !changes.IsSame() || !ValuesEqual(live.value(), pruned.object.value());
  return applied;
}

}  // namespace apiserver::v0::patch::apply
