#pragma once

#include <rocksdb/env.h>

#include <memory>

#include "faults/disk.h"

namespace apiserver::inline v0::faults {

// RocksDB's view of `disk`, which must outlive it. RocksDB's own diary goes nowhere.
std::unique_ptr<rocksdb::Env> NewDiskEnv(Disk& disk);

}  // namespace apiserver::inline v0::faults
