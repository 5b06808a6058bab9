#include "apiserver/patch/merge_patch.h"
#include "base/status_macros.h"
#include "endpoints/handlers/patched_object.h"

namespace apiserver::inline v0::endpoints {

Result<runtime::Value> ApplyMergePatch(const PatchRequest& request, runtime::Value document,
                                       runtime::Arena& arena) {
  ASSIGN_OR_RETURN(const runtime::Value patch, ParsePatch(request, arena));
  return patch::ApplyMergePatch(document, patch, arena);
}

}  // namespace apiserver::inline v0::endpoints
