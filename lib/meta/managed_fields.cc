#include "apiserver/meta/managed_fields.h"

namespace apiserver::v0::meta {

bool IsResetManagedFields(runtime::Value entries) {
  if (!entries.is_list()) return false;
  if (entries.size() == 0) return true;
  return entries.size() == 1 && entries.at(0).is_map() && entries.at(0).size() == 0;
}

// Writes [] as [{}], which asks for the same: encoders leave empty lists out, and the request to
// reset would be lost with it.
void KeepManagedFieldsReset(runtime::Object& object) {
  const runtime::Value entries = object.metadata()["managedFields"];
  if (!entries.is_list() || entries.size() > 0) return;
  runtime::ListBuilder one(object.arena());
  one.Add(runtime::Value::Map({}));
  object.SetPath({"metadata", "managedFields"}, one.Build());
}

}  // namespace apiserver::v0::meta
