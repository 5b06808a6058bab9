#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/patch/apply/updater.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/time.h"
#include "apiserver/runtime/value.h"

// metadata.managedFields, the owners of an object's fields, as objects carry it and as the merge
// needs it. k8s.io/apimachinery/pkg/util/managedfields.
namespace apiserver::inline v0::patch::apply {

// The identity of one entry of managedFields.
struct ManagerInfo {
  std::string manager;      // "kubectl".
  std::string operation;    // "Apply" or "Update".
  std::string api_version;  // Names the fields: "apps/v1".
  std::string subresource;  // The subresource through which they were written; empty: none.
};

// Returns the key of a manager in Managers: two entries with the same one are one. The version is
// part of it for an Update only, so that an applier stays itself whichever version it applies in.
std::string BuildManagerIdentifier(const ManagerInfo& info);
// The inverse. kBadRequest: `identifier` is not one.
Result<ManagerInfo> ParseManagerIdentifier(std::string_view identifier);

// The owners of an object's fields, and the time of each one's last change (absent: not known).
struct Managed {
  Managers fields;
  std::map<std::string, std::optional<runtime::UnixTime>, std::less<>> times;
  // The sets that were read and would be written the same. One that has not changed is then copied
  // instead of written.
  struct AsRead {
    FieldSet set;
    runtime::Value fields_v1;
  };
  std::map<std::string, AsRead, std::less<>> as_read;
};

// Decodes the list metadata.managedFields, or null. The result borrows `entries` and `arena`.
// kBadRequest: an entry cannot be read, in Kubernetes' words.
Result<Managed> DecodeManagedFields(runtime::Value entries, runtime::Arena& arena);
// Returns the list in canonical order (operation, time, manager, version, subresource), or null if
// there are no owners. It lives in `arena`. kInternalError: a key of `managed.fields` is no
// identifier.
Result<runtime::Value> EncodeManagedFields(const Managed& managed, runtime::Arena& arena);
// Reports whether the entries can be read; errors as DecodeManagedFields().
Status ValidateManagedFields(runtime::Value entries);

// Restores the old times of managedFields if `object` differs from `old` in nothing else, so that
// it need not be written: IgnoreManagedFieldsTimestampsTransformer of
// k8s.io/apiserver/pkg/endpoints/handlers/fieldmanager.
void IgnoreManagedFieldsTimestamps(runtime::Object& object, const runtime::Object& old);

}  // namespace apiserver::inline v0::patch::apply
