#pragma once

#include <rocksdb/env.h>

#include <string>

#include "apiserver/storage/kv/engine.h"

// A file beside RocksDB's with the revision that the store had when it was last opened or closed.
// RocksDB takes a manifest that ends too early for a torn one and opens an earlier state; only a
// file outside of it can show that.
namespace apiserver::inline v0::storage::rocks {

// Checks the floor. kInternalError: `revision` is below the floor of the store in `path`, or the
// file is damaged.
Status CheckFloor(rocksdb::Env& env, const std::string& path, kv::Revision revision);
// Writes the floor; it is durable when this returns.
Status RaiseFloor(rocksdb::Env& env, const std::string& path, kv::Revision revision);

}  // namespace apiserver::inline v0::storage::rocks
