#include "apiserver/rest/status.h"

#include <string>
#include <string_view>
#include <utility>

namespace apiserver::v0::rest {
namespace {

using runtime::Value;

// Sets `object`'s metadata.`field` to that of `old`.
void Restore(runtime::Object& object, const runtime::Object& old, std::string_view field) {
  const Value before = old.metadata()[field];
  if (before == object.metadata()[field]) return;
  if (before.is_null()) return object.Erase("metadata", field);
  object.Edit("metadata", field) = before;
}

// Returns `old`'s metadata with the managedFields of `object`. It lives in `object`'s arena.
// Keeps the place of managedFields in the order of members, so that equal objects have equal bytes.
Value MetadataWithManagers(runtime::Object& object, const runtime::Object& old) {
  runtime::MapBuilder metadata(object.arena());
  const Value managers = object.metadata()["managedFields"];
  bool placed = managers.is_null();
  for (const runtime::Member& member : old.metadata().members()) {
    if (member.key != "managedFields") {
      metadata.Add(object.arena().Copy(member.key), runtime::Copy(member.value, object.arena()));
    } else if (!placed) {
      metadata.Add("managedFields", managers);
      placed = true;
    }
  }
  if (!placed) metadata.Add("managedFields", managers);
  return metadata.Build();
}

// Wraps the main strategy for the subresource `status`: everything else is taken from the stored
// object.
class StatusStrategy final : public Strategy {
 public:
  StatusStrategy(std::shared_ptr<const Strategy> main, const runtime::Kind& kind)
      : main_(std::move(main)), reset_fields_(AllButStatusFields(kind)) {}

  bool NamespaceScoped() const override { return main_->NamespaceScoped(); }
  bool RunsInline() const override { return main_->RunsInline(); }
  void PrepareForUpdate(const Context&, runtime::Object& object,
                        const runtime::Object& old) const override {
    KeepAllButStatus(object, old);
  }
  field::ErrorList Validate(const Context& ctx, const runtime::Object& object) const override {
    return main_->Validate(ctx, object);
  }
  field::ErrorList ValidateUpdate(const Context& ctx, const runtime::Object& object,
                                  const runtime::Object& old) const override {
    return main_->ValidateUpdate(ctx, object, old);
  }
  std::vector<std::string> WarningsOnUpdate(const Context& ctx, const runtime::Object& object,
                                            const runtime::Object& old) const override {
    return main_->WarningsOnUpdate(ctx, object, old);
  }
  void Canonicalize(runtime::Object& object) const override { main_->Canonicalize(object); }
  bool AllowUnconditionalUpdate() const override { return main_->AllowUnconditionalUpdate(); }
  ResetFields GetResetFields() const override { return reset_fields_; }

 private:
  std::shared_ptr<const Strategy> main_;
  ResetFields reset_fields_;
};

}  // namespace

ResetFields StatusFields(const runtime::Kind& kind) {
  ResetFields fields;
  for (const runtime::KindVersion& version : kind.versions()) {
    fields[kind.gvk(version.version).group_version().ToString()] = {{"status"}};
  }
  return fields;
}

// The fields that server-side apply must not own by way of `status`.
ResetFields AllButStatusFields(const runtime::Kind& kind) {
  ResetFields fields;
  for (const runtime::KindVersion& version : kind.versions()) {
    auto& names = fields[kind.gvk(version.version).group_version().ToString()];
    names = {{"metadata"}, {"spec"}};
    if (version.schema == nullptr) continue;
    for (const runtime::Field& field : version.schema->fields()) {
      if (field.name() == "status" || field.name() == "metadata" || field.name() == "spec")
        continue;
      names.push_back({std::string(field.name())});
    }
  }
  return fields;
}

// The inverse of KeepAllButStatus, for the main resource.
void KeepStatus(runtime::Object& object, const runtime::Object& old) {
  const Value before = old["status"];
  if (before == object["status"]) return;
  if (before.is_null()) return object.Erase("status");
  object.Edit("status") = before;
}

void KeepAllButStatus(runtime::Object& object, const runtime::Object& old) {
  runtime::MapBuilder root(object.arena());
  const Value* const status = object.root().Find("status");
  bool placed = status == nullptr;
  for (const runtime::Member& member : old.root().members()) {
    if (member.key == "metadata") {
      root.Add("metadata", MetadataWithManagers(object, old));
    } else if (member.key != "status") {
      root.Add(object.arena().Copy(member.key), runtime::Copy(member.value, object.arena()));
    } else if (!placed) {
      root.Add("status", *status);
      placed = true;
    }
  }
  if (!placed) root.Add("status", *status);
  object.SetRoot(root.Build());
}

// Follows ResetObjectMetaForStatus of Go's meta/v1 helpers.
void ResetObjectMetaForStatus(runtime::Object& object, const runtime::Object& old) {
  for (const std::string_view field : {"deletionTimestamp", "generation", "selfLink", "labels",
                                       "annotations", "finalizers", "ownerReferences"}) {
    Restore(object, old, field);
  }
}

std::shared_ptr<const Strategy> NewStatusStrategy(std::shared_ptr<const Strategy> main,
                                                  const runtime::KindPtr& kind) {
  return std::make_shared<StatusStrategy>(std::move(main), *kind);
}

}  // namespace apiserver::v0::rest
