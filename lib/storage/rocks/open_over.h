#pragma once

#include <rocksdb/env.h>

#include <memory>

#include "apiserver/storage/rocks/engine.h"

namespace apiserver::inline v0::storage::rocks {

// Opens as Open() does, over the files of `env`, which must outlive the engine: for tests of
// failing disks.
Result<std::unique_ptr<kv::Engine>> OpenOver(rocksdb::Env& env, Options options);

}  // namespace apiserver::inline v0::storage::rocks
