#pragma once

#include <rocksdb/env.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"

// Repairs the end of RocksDB's write-ahead log after a power cut. Every write is synced by itself,
// so a power cut can spoil the last one only: its pages may have reached the disk in any order.
// RocksDB accepts a log that ends in the middle of a record, but refuses one with a hole in its
// last record; and if there are zeros instead of a record it silently goes on behind them.
namespace apiserver::inline v0::storage::rocks {

struct LogTail {
  // The place where the log must be cut off, because an incomplete write begins there. None:
  // nowhere.
  std::optional<std::uint64_t> torn_at;
  // The place of damage that synced records follow. None: nowhere.
  std::optional<std::uint64_t> damaged_at;
};

// Examines the bytes of a log in the format of RocksDB's log::Writer without recycling.
LogTail FindLogTail(std::string_view log);

// The newest log of a store that has bytes.
struct NewestLogFile {
  std::string file;                      // Empty: there is none.
  std::string bytes;                     // All of it.
  std::optional<std::uint64_t> torn_at;  // As in LogTail.
};
// Reads the newest log in `path`. kInternalError: it is damaged, or cannot be read.
Result<NewestLogFile> ReadNewestLog(rocksdb::Env& env, const std::string& path);
// Cuts a torn write off the newest log in `path`. kInternalError: it is damaged, or cannot be read.
Status MendNewestLog(rocksdb::Env& env, const std::string& path);

}  // namespace apiserver::inline v0::storage::rocks
