#pragma once

#include <string>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::storage::rocks {

// Checks that Open() would open the store in `path`: reads all of its keys and changes no file.
// Takes as long as an opening; blocks. A store that another process writes meanwhile may seem
// damaged: reserve its directory for the call.
//
// OK also for an empty directory, where Open() makes a store, and for a write that a power cut has
// torn, which Open() cuts off. The keys of a torn store are not read.
// kNotFound: there is no directory.
// kInternalError: the store is damaged, cannot be read, or a newer version wrote it.
Status Check(const std::string& path);

}  // namespace apiserver::inline v0::storage::rocks
