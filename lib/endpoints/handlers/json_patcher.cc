#include <string_view>

#include "apiserver/patch/json_patch.h"
#include "endpoints/handlers/patched_object.h"

namespace apiserver::inline v0::endpoints {

Result<runtime::Value> ApplyJsonPatch(const PatchRequest& request, runtime::Value document,
                                      runtime::Arena& arena) {
  const std::shared_ptr<const std::string> body = request.exchange.body();
  arena.Pin(body);
  const Environment& environment = *request.scope.environment;
  return patch::ApplyJsonPatch(document, body ? std::string_view(*body) : "", arena,
                               {.operations_max = environment.json_patch_operations_max,
                                .copy_bytes_max = environment.json_patch_copy_bytes_max});
}

}  // namespace apiserver::inline v0::endpoints
