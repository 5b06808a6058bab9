#include "apiserver/rest/create.h"

#include <string>

#include "apiserver/meta/errors.h"
#include "apiserver/meta/validation.h"
#include "apiserver/rest/meta.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/warnings.h"
#include "base/status_macros.h"
#include "rest/validate_by_schema.h"

namespace apiserver::v0::rest {
namespace {

// Errors of the schema and of the strategy are reported together; metadata only if both are none.
field::ErrorList ValidateCreate(const Strategy& strategy, const Context& ctx,
                                const runtime::Object& object, const SchemaCheck& check) {
  field::ErrorList own = strategy.Validate(ctx, object);
  field::ErrorList errors = ValidateBySchema(ctx, object, nullptr, check, own);
  errors.Append(std::move(own));
  if (!errors.empty()) return errors;
  // After the strategy's own, whose words about a name are more specific.
  return meta::ValidateObjectMeta(object.metadata(), strategy.NamespaceScoped(),
                                  meta::ValidatePathSegmentName, field::Path("metadata"));
}

}  // namespace

// Follows rest.BeforeCreate. The order is part of the contract: a strategy sees the system's
// fields, and canonicalizes only what is valid.
Status BeforeCreate(const Strategy& strategy, const Context& ctx, runtime::Object& object,
                    const SchemaCheck& check) {
  if (object.uid().empty() || object.metadata()["creationTimestamp"].is_null()) {
    return meta::NewInternalError("system metadata was not initialized");
  }
  if (!object.generate_name().empty() && object.name().empty()) {
    return meta::NewInternalError("metadata.name was not generated");
  }
  const std::string_view expected =
      ExpectedNamespaceForScope(NamespaceOf(ctx), strategy.NamespaceScoped());
  RETURN_IF_ERROR(EnsureObjectNamespaceMatchesRequestNamespace(expected, object));

  strategy.PrepareForCreate(ctx, object);
  const field::ErrorList errors = ValidateCreate(strategy, ctx, object, check);
  if (!errors.empty()) {
    return meta::NewInvalid(object.kind().group_kind(), object.name(), errors);
  }
  for (std::string& warning : strategy.WarningsOnCreate(ctx, object)) {
    AddWarning(ctx, std::move(warning));
  }
  strategy.Canonicalize(object);
  return {};
}

// The client did not choose the name, so AlreadyExists would mislead it; it may just try again.
Status CheckGeneratedNameError(const runtime::Object& object, const Status& error) {
  if (error.reason() != Reason::kAlreadyExists || object.generate_name().empty()) return error;
  return meta::NewGenerateNameConflict(object.kind().group_resource(), object.name());
}

}  // namespace apiserver::v0::rest
