#include <string_view>

#include "apiserver/patch/json_patch.h"
#include "base/status_macros.h"
#include "endpoints/handlers/patched_object.h"

namespace apiserver::v0::endpoints {

// RFC 6902. Limits count operations and copied bytes, since "copy" can double a document with each
// operation.
Result<Patched> ApplyJsonPatch(const PatchRequest& request, runtime::Value document,
                               runtime::Arena& arena) {
  const std::shared_ptr<const std::string> body = request.exchange.body();
  const std::string_view text = body ? std::string_view(*body) : "";
  // The patched document borrows texts of the body.
  arena.Pin(body);
  const Environment& environment = *request.scope.environment;
  Patched patched;
  ASSIGN_OR_RETURN(
      patched.document,
      patch::ApplyJsonPatch(document, text, arena,
                            {.operations_max = environment.json_patch_operations_max,
                             .copy_bytes_max = environment.json_patch_copy_bytes_max}));
  // A second pass over the patch, which Ignore does not need.
  if (request.options.field_validation != meta::FieldValidation::kIgnore) {
    patched.strict_errors = patch::JsonPatchStrictErrors(text);
  }
  return patched;
}

}  // namespace apiserver::v0::endpoints
