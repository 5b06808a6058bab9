#pragma once

#include <rocksdb/env.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"

// The end of RocksDB's write-ahead log after a bad day. Every write of ours is synced by itself, so
// a power cut can spoil the last one only: its pages may have reached the disk in any order.
// RocksDB takes a log that ends in the middle of a record for that, but refuses one with a hole in
// its last record; and where zeros stand instead of a record it silently goes on behind them.
namespace apiserver::inline v0::storage::rocks {

struct LogTail {
  // Where the log must be cut off, because a write began there that is not whole. None: nowhere.
  std::optional<std::uint64_t> torn_at;
  // Where it is damaged: records that were synced stand behind it.
  std::optional<std::uint64_t> damaged_at;
};

// Looks at the bytes of a log, of the format of RocksDB's log::Writer without recycling.
LogTail FindLogTail(std::string_view log);

// Cuts a torn write off the newest log in `path`. kInternalError: it is damaged, or cannot be read.
Status MendNewestLog(rocksdb::Env& env, const std::string& path);

}  // namespace apiserver::inline v0::storage::rocks
