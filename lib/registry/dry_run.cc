#include "registry/dry_run.h"

#include <utility>

#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"
#include "storage/errors.h"

namespace apiserver::v0::registry {
namespace {

// Returns the object as a write and a read would return it: without what the storage version does
// not have, settled and frozen.
Result<runtime::ObjectPtr> Settled(const Context& ctx, std::unique_ptr<runtime::Object> object) {
  RETURN_IF_ERROR(runtime::Convert(ctx, *object, object->kind().storage_version()));
  RETURN_IF_ERROR(runtime::Settle(*object));
  return runtime::ObjectPtr(std::move(object));
}

}  // namespace

// The checks of a write without the write, as in Go's DryRunnableStorage.
Result<runtime::ObjectPtr> RehearseCreate(storage::Interface& storage, const Context& ctx,
                                          std::string_view key, const runtime::Object& object) {
  const auto existing = storage.Get(ctx, key, {});
  if (existing.ok()) return storage::NewKeyExists(key);
  return Settled(ctx, object.Clone());
}

Result<runtime::ObjectPtr> RehearseUpdate(storage::Interface& storage, const Context& ctx,
                                          std::string_view key,
                                          const storage::UpdateOptions& options,
                                          const storage::TryUpdate& try_update) {
  storage::GetOptions get;
  get.ignore_not_found = options.ignore_not_found;
  ASSIGN_OR_RETURN(const runtime::ObjectPtr existing, storage.Get(ctx, key, get));
  RETURN_IF_ERROR(storage::CheckPreconditions(key, options.preconditions, existing.get()));
  ASSIGN_OR_RETURN(storage::Update update, try_update(existing));
  return Settled(ctx, std::move(update.object));
}

Result<runtime::ObjectPtr> RehearseDelete(storage::Interface& storage, const Context& ctx,
                                          std::string_view key,
                                          const storage::UpdateOptions& options,
                                          const storage::ValidateDeletion& validate) {
  ASSIGN_OR_RETURN(const runtime::ObjectPtr existing, storage.Get(ctx, key, {}));
  RETURN_IF_ERROR(storage::CheckPreconditions(key, options.preconditions, existing.get()));
  if (validate) RETURN_IF_ERROR(validate(ctx, *existing));
  return existing;
}

}  // namespace apiserver::v0::registry
