#pragma once

#include <memory>
#include <string_view>

#include "storage/rocks/store.h"

namespace apiserver::inline v0::storage::rocks {

// Returns a tail that reads changes from memory and, where those do not reach back far enough, from
// disk.
std::unique_ptr<kv::Tail> NewTail(std::shared_ptr<Store> store, std::string_view prefix,
                                  Revision from);

}  // namespace apiserver::inline v0::storage::rocks
