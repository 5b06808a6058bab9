#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/meta/options.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/value.h"
#include "endpoints/handlers/admit.h"
#include "endpoints/handlers/patch_types.h"
#include "endpoints/handlers/scope.h"

namespace apiserver::inline v0::endpoints {

// The body of an apply.
struct ApplyBody {
  patch::apply::AppliedConfigurationPtr configuration;
  // The errors of strict decoding. Empty: none.
  std::string strict_error;
};
// Parses the body. kBadRequest: it is neither YAML nor JSON, or not CBOR if it should be, or no
// object.
Result<ApplyBody> ParseApplyBody(http::Exchange& exchange, bool cbor);

// A PATCH request.
struct PatchRequest {
  const RequestScope& scope;
  http::Exchange& exchange;
  PatchType type;
  const meta::PatchOptions& options;
  const Admitter& admitter;
  // The body of an apply; null for other patches.
  const ApplyBody* apply = nullptr;
};

struct Patched;

// Applies one patch to the stored object, again on every attempt: the patcher of k8s.io/apiserver's
// handlers/patch.go. Borrows the request.
class PatchedObject final : public rest::UpdatedObjectInfo {
 public:
  // If `track_fields` is false the result has no owners.
  explicit PatchedObject(const PatchRequest& request, bool track_fields = true)
      : request_(request), track_fields_(track_fields) {}

  Result<std::unique_ptr<runtime::Object>> UpdatedObject(
      const Context& ctx, const runtime::ObjectPtr& old) const override;

 private:
  // Returns the patched object in the hub version, before admission.
  Result<std::unique_ptr<runtime::Object>> Patch(const Context& ctx,
                                                 const runtime::ObjectPtr& old) const;
  // The patched object in the hub version, and the one before in that of the request, whose content
  // lies in the arena of the former.
  struct Change {
    std::unique_ptr<runtime::Object> object;
    std::unique_ptr<runtime::Object> before;
  };
  Result<Change> PatchCurrent(const Context& ctx, const runtime::ObjectPtr& current) const;
  Status CheckMeta(runtime::Object& object, bool exists) const;

  const PatchRequest request_;
  const bool track_fields_;
};

// The result of applying a patch to a document.
struct Patched {
  runtime::Value document;
  // The unknown and duplicate fields of the patch itself; empty if they are ignored.
  std::vector<std::string> strict_errors;
  // Prints the document for the decoder's errors: for a strategic merge patch the rest of the
  // patch, as Go prints it. Null: the document as JSON.
  std::function<std::string()> shown;
  bool from_unstructured = false;  // True if converter.go decodes it, not a decoder of JSON.
};

// Apply the patch to `document`: an object in the path's version, with kind and apiVersion. One
// file per type; the result lives in `arena`, or where `document` does. The kind of the result is
// not checked here.
Result<Patched> ApplyJsonPatch(const PatchRequest& request, runtime::Value document,
                               runtime::Arena& arena);
Result<Patched> ApplyMergePatch(const PatchRequest& request, runtime::Value document,
                                runtime::Arena& arena);
Result<Patched> ApplyStrategicMergePatch(const PatchRequest& request, runtime::Value document,
                                         runtime::Arena& arena);

// Returns `old` (null: there is no object) merged with the configuration of an apply, in the hub
// version.
Result<std::unique_ptr<runtime::Object>> ApplyConfiguration(const PatchRequest& request,
                                                            const Context& ctx,
                                                            const runtime::ObjectPtr& old);

// Returns the body as a JSON object or null; its duplicate fields are in `strict_errors` unless
// they are ignored. An error begins with `prefix`.
Result<runtime::Value> ParsePatch(const PatchRequest& request, std::string_view prefix,
                                  std::vector<std::string>& strict_errors, runtime::Arena& arena);

// Returns the error of encoding/json for a body that is neither an object nor null: "json: cannot
// unmarshal array into Go value of type map[string]interface {}".
std::string NoObjectError(const runtime::Value& value);

}  // namespace apiserver::inline v0::endpoints
