#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/context.h"
#include "apiserver/patch/apply/field_manager.h"
#include "apiserver/patch/apply/updater.h"

namespace apiserver::inline v0::patch::apply {

// The context of one call of a field manager, and the place of new content.
struct Work {
  const Context& ctx;
  runtime::Arena& arena;
};

// The merge core for objects of one kind and version: upstream's structuredMergeManager. Content is
// in that version, without kind, apiVersion and managedFields.
class StructuredMerge final {
 public:
  // `reset_fields` is borrowed.
  StructuredMerge(TypeConverterPtr types, std::string version, const FieldFilters& reset_fields);

  struct UpdateRequest {
    runtime::Value live;
    runtime::Value now;
    Managers managers;
    std::string manager;
    const Comparison* changes = nullptr;  // Compare() of both. Null: not known.
  };
  // Returns the owners after `now` has replaced `live`.
  Result<Managers> Update(UpdateRequest request, const Work& work) const;

  // Returns how `now` differs from `live`, without the fields that no manager comes to own here.
  Result<Comparison> Compare(runtime::Value live, runtime::Value now, const Work& work) const;

  // Returns the fields that a manager comes to own here by applying `config`. Nullopt: what a
  // manager no longer applies may be removed although it is not among the fields it owned.
  Result<std::optional<FieldSet>> FieldsOf(runtime::Value config, const Work& work) const;

  // The outcome of Merge().
  struct Merged {
    runtime::Value object;
    Comparison changes;    // As by Compare().
    bool changed = false;  // The content of `object` differs from that of the live one.
  };
  // Merges `config`, which FieldsOf() took, into `live`. Nothing is removed.
  Result<Merged> Merge(runtime::Value live, runtime::Value config, const Work& work) const;

  struct ApplyRequest {
    runtime::Value live;
    runtime::Value config;
    Managers managers;
    std::string manager;
    bool force = false;
  };
  Result<Updater::Applied> Apply(ApplyRequest request, const Work& work) const;

  // Returns the content of `object` in this version. It lives in the arena, or with `object`.
  Result<runtime::Value> ToVersioned(const runtime::Object& object, const Work& work) const;

  const ParseableType& type() const { return *type_; }
  const std::string& version() const { return version_; }
  // "apps/v1".
  const std::string& api_version() const { return api_version_; }
  const runtime::Kind& kind() const { return *types_->kind(); }
  // An object in which nothing is set.
  runtime::Value empty() const { return types_->EmptyObject(version_); }
  // "default/x; apps/v1, Kind=Deployment", for messages.
  std::string Describe(runtime::Value content) const;

 private:
  // Null: there is none for this version.
  const FieldFilter* Filter() const;
  Result<Comparison> Compare(const TypedValue& live, const TypedValue& now, const Work& work) const;

  const TypeConverterPtr types_;
  const std::string version_;
  const std::string api_version_;
  const ParseableType* const type_;
  const FieldFilters& reset_fields_;
};

}  // namespace apiserver::inline v0::patch::apply
