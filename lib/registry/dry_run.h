#pragma once

#include <string_view>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/storage/interface.h"

// Computes the result of a write without storing it: k8s.io/apiserver's DryRunnableStorage. Errors
// are storage's.
namespace apiserver::inline v0::registry {

Result<runtime::ObjectPtr> RehearseCreate(storage::Interface& storage, const Context& ctx,
                                          std::string_view key, const runtime::Object& object);
Result<runtime::ObjectPtr> RehearseUpdate(storage::Interface& storage, const Context& ctx,
                                          std::string_view key,
                                          const storage::UpdateOptions& options,
                                          const storage::TryUpdate& try_update);
Result<runtime::ObjectPtr> RehearseDelete(storage::Interface& storage, const Context& ctx,
                                          std::string_view key,
                                          const storage::UpdateOptions& options,
                                          const storage::ValidateDeletion& validate);

}  // namespace apiserver::inline v0::registry
