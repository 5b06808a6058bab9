#pragma once

#include <rocksdb/env.h>

#include <string>

#include "apiserver/storage/kv/engine.h"

// A file beside RocksDB's that says which revision the store had when it was last opened or closed.
// RocksDB takes a manifest that ends too early for a torn one and opens what the store was before;
// only from outside can that be told.
namespace apiserver::inline v0::storage::rocks {

// kInternalError: `revision` is below the floor of the store in `path`, or the file is damaged.
Status CheckFloor(rocksdb::Env& env, const std::string& path, kv::Revision revision);
// Durable when it returns.
Status RaiseFloor(rocksdb::Env& env, const std::string& path, kv::Revision revision);

}  // namespace apiserver::inline v0::storage::rocks
