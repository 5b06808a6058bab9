#pragma once

#include <memory>

#include "apiserver/meta/options.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/value.h"
#include "endpoints/handlers/admit.h"
#include "endpoints/handlers/scope.h"
#include "endpoints/patch_types.h"

namespace apiserver::inline v0::endpoints {

// A PATCH as it came.
struct PatchRequest {
  const RequestScope& scope;
  http::Exchange& exchange;
  PatchType type;
  const meta::PatchOptions& options;
  const Admitter& admitter;
};

// Applies one patch to whatever is stored, again on every try: the patcher of k8s.io/apiserver's
// handlers/patch.go. Borrows the request.
class PatchedObject final : public rest::UpdatedObjectInfo {
 public:
  explicit PatchedObject(const PatchRequest& request) : request_(request) {}

  Result<std::unique_ptr<runtime::Object>> UpdatedObject(
      const Context& ctx, const runtime::ObjectPtr& old) const override;

 private:
  // The patched object in the hub version, before admission.
  Result<std::unique_ptr<runtime::Object>> Patch(const Context& ctx,
                                                 const runtime::Object& current) const;

  const PatchRequest request_;
};

// What a patch makes of `document`: an object in the path's version, with kind and apiVersion. One
// file per type; the result lives in `arena`, or where `document` does. What it is to be decoded
// to is not checked here.
Result<runtime::Value> ApplyJsonPatch(const PatchRequest& request, runtime::Value document,
                                      runtime::Arena& arena);
Result<runtime::Value> ApplyMergePatch(const PatchRequest& request, runtime::Value document,
                                       runtime::Arena& arena);

// The body as JSON, whose duplicate fields are refused or warned of.
Result<runtime::Value> ParsePatch(const PatchRequest& request, runtime::Arena& arena);

}  // namespace apiserver::inline v0::endpoints
