#include "apiserver/meta/errors.h"
#include "apiserver/patch/merge_patch.h"
#include "base/status_macros.h"
#include "endpoints/handlers/patched_object.h"

namespace apiserver::v0::endpoints {

// RFC 7386. The result is decoded afterwards, which finds unknown fields.
Result<Patched> ApplyMergePatch(const PatchRequest& request, runtime::Value document,
                                runtime::Arena& arena) {
  Patched patched;
  const bool ignored = request.options.field_validation == meta::FieldValidation::kIgnore;
  const auto patch = ParsePatch(request, "error decoding patch: ", patched.strict_errors, arena);
  // Only the patch library reads the body if strict errors are ignored, and this is its message.
  if (!patch.ok() && ignored) return meta::NewBadRequest("Invalid JSON Patch");
  if (!patch.ok()) return patch.status();
  ASSIGN_OR_RETURN(patched.document, patch::ApplyMergePatch(document, *patch, arena));
  return patched;
}

}  // namespace apiserver::v0::endpoints
