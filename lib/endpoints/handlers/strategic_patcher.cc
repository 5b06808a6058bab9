#include "apiserver/patch/strategic_merge_patch.h"
#include "base/status_macros.h"
#include "endpoints/handlers/patched_object.h"
#include "patch/go_print.h"

namespace apiserver::v0::endpoints {

// Strategic merge works on Go's unstructured form, whose errors have other words than a decoder's.
Result<Patched> ApplyStrategicMergePatch(const PatchRequest& request, runtime::Value document,
                                         runtime::Arena& arena) {
  const RequestScope& scope = request.scope;
  Patched patched;
  patched.from_unstructured = true;
  ASSIGN_OR_RETURN(runtime::Value patch, ParsePatch(request, "", patched.strict_errors, arena));
  if (patch.is_null()) patch = runtime::Value::Map({});
  const runtime::Schema& schema = *scope.kind->FindVersion(scope.version)->schema;
  ASSIGN_OR_RETURN(const patch::StrategicMerge merge,
                   patch::ApplyStrategicMergePatch(document, patch, schema, arena));
  patched.document = merge.object;
  patched.shown = [left = merge.patch] { return patch::PrintGo(left); };
  return patched;
}

}  // namespace apiserver::v0::endpoints
