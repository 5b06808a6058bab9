#pragma once

#include <optional>

#include "apiserver/patch/apply/typed.h"
#include "patch/apply/owner.h"

namespace apiserver::inline v0::patch::apply {

// The owners of an object's fields as they were read, none of whose sets is decoded: most writes
// leave all of them as they are, and only the time of the writer's own entry changes.
class KeptOwners {
 public:
  // Nullopt: `entries`, metadata.managedFields, holds what only Updater can handle: fields of
  // another version than `api_version`, list items, what encoding would write in another form, or
  // more than `updaters_max` owners by updates. `type` is that of objects in the version.
  static std::optional<KeptOwners> Read(runtime::Value entries, std::string_view api_version,
                                        const Type& type, std::size_t updaters_max);

  // Returns true if an update by `writer` that makes these changes, without those of fields that
  // nobody owns, gives and takes no field; the writer's entry then has the time of `writer`.
  // `nobodys` are the fields that have no owner although they change.
  bool Stay(const Comparison& changes, FieldSet nobodys, const Owner& writer);
  // Returns true if the fields that `applier` owns are these, of which there must be some.
  bool HasJust(const ManagerInfo& applier, FieldSet fields) const;
  // Returns true if nobody but `applier` owns a field that changes.
  bool OthersStay(const ManagerInfo& applier, const Comparison& changes) const;
  // Gives the entry of the writer, if there is one, its time.
  void SetTime(const Owner& writer);
  // Returns managedFields, whose sets are shared with what was read if `share`, else copied.
  runtime::Value Encode(bool share, runtime::Arena& arena) &&;

 private:
  // Null: it owns no field.
  const Owner* Find(const ManagerInfo& info) const;

  std::vector<Owner> owners_;
};

}  // namespace apiserver::inline v0::patch::apply
