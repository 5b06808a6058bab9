#pragma once

#include <memory>
#include <string_view>

#include "apiserver/storage/kv/engine.h"
#include "storage/memory/versions.h"

namespace apiserver::inline v0::storage::memory {

std::unique_ptr<kv::Tail> NewTail(std::shared_ptr<ChangeLog> log, std::string_view prefix,
                                  kv::Revision from);

}  // namespace apiserver::inline v0::storage::memory
