#pragma once

#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::registry {

// Checks the paths that the kind of `options` declares against its schemas: the columns of every
// version unless the host has a table convertor, the selectable fields unless it has a function for
// their values. kInvalid: a path leads nowhere, or cannot be read.
Status CheckDeclaredPaths(const StoreOptions& options);

// Checks a path of member names against the schema of `version`. Null schemas are not checked.
// kInvalid: it leads nowhere; the message begins with `what`, which names the path's purpose.
Status CheckMemberPath(const runtime::KindVersion& version, std::string_view what,
                       std::string_view path);

}  // namespace apiserver::inline v0::registry
