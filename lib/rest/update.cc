#include "apiserver/rest/update.h"

#include <string>
#include <utility>

#include "apiserver/meta/errors.h"
#include "apiserver/meta/validation.h"
#include "apiserver/rest/meta.h"
#include "apiserver/rest/warnings.h"
#include "base/status_macros.h"
#include "rest/validate_by_schema.h"

namespace apiserver::v0::rest {
namespace {

// Only the strategy may change the generation, so the client's value is dropped before it runs.
void KeepGeneration(runtime::Object& object, const runtime::Object& old) {
  if (object.generation() == old.generation()) return;
  if (old.generation() == 0) {
    object.Erase("metadata", "generation");
  } else {
    object.Edit("metadata", "generation") = old.generation();
  }
}

// Restores the fields that a client cannot change once the server has set them.
void RestoreSystemFields(runtime::Object& object, const runtime::Object& old) {
  const auto restore = [&](std::string_view field, bool always) {
    const runtime::Value before = old.metadata()[field];
    const runtime::Value now = object.metadata()[field];
    if (before.is_null() || before == now || !(always || now.is_null())) return;
    object.Edit("metadata", field) = before;
  };
  if (object.uid().empty()) restore("uid", true);
  restore("creationTimestamp", true);
  restore("deletionTimestamp", true);
  restore("deletionGracePeriodSeconds", false);
}

// The object of a PUT: it does not depend on the stored one, apart from the uid that it names.
class ReplacedObject final : public UpdatedObjectInfo {
 public:
  explicit ReplacedObject(runtime::ObjectPtr object) : object_(std::move(object)) {}

  meta::Preconditions GetPreconditions() const override {
    meta::Preconditions preconditions;
    if (!object_->uid().empty()) preconditions.uid = std::string(object_->uid());
    return preconditions;
  }
  Result<std::unique_ptr<runtime::Object>> UpdatedObject(const Context&,
                                                         const runtime::ObjectPtr&) const override {
    return object_->Clone();
  }

 private:
  runtime::ObjectPtr object_;
};

}  // namespace

// Follows rest.BeforeUpdate. System fields are restored after the strategy, which may not change
// them either, and before validation, which compares them.
Status BeforeUpdate(const Strategy& strategy, const Context& ctx, runtime::Object& object,
                    const runtime::Object& old, const SchemaCheck& check) {
  const std::string_view expected =
      ExpectedNamespaceForScope(NamespaceOf(ctx), strategy.NamespaceScoped());
  RETURN_IF_ERROR(EnsureObjectNamespaceMatchesRequestNamespace(expected, object));
  KeepGeneration(object, old);
  strategy.PrepareForUpdate(ctx, object, old);
  RestoreSystemFields(object, old);

  const field::Path path("metadata");
  field::ErrorList errors = meta::ValidateObjectMeta(object.metadata(), strategy.NamespaceScoped(),
                                                     meta::ValidatePathSegmentName, path);
  // Labels, annotations and references without a finding need no second look.
  errors.Append(errors.empty()
                    ? meta::ValidateObjectMetaChange(object.metadata(), old.metadata(), path)
                    : meta::ValidateObjectMetaUpdate(object.metadata(), old.metadata(), path));
  field::ErrorList own = strategy.ValidateUpdate(ctx, object, old);
  field::ErrorList others = errors;
  others.Append(own);
  errors.Append(ValidateBySchema(ctx, object, &old, check, others));
  errors.Append(std::move(own));
  if (!errors.empty()) {
    return meta::NewInvalid(object.kind().group_kind(), object.name(), errors);
  }
  for (std::string& warning : strategy.WarningsOnUpdate(ctx, object, old)) {
    AddWarning(ctx, std::move(warning));
  }
  strategy.Canonicalize(object);
  return {};
}

std::unique_ptr<UpdatedObjectInfo> DefaultUpdatedObjectInfo(runtime::ObjectPtr object) {
  return std::make_unique<ReplacedObject>(std::move(object));
}

}  // namespace apiserver::v0::rest
