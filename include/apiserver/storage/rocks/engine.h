#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/storage/kv/engine.h"
#include "apiserver/storage/kv/history.h"

// The embedded engine over RocksDB: one directory, one process. One thread commits: it takes all
// waiting writes, makes them durable with one sync, shows them to the observers and answers.
//
// In memory are the live keys with their revisions (some 120 bytes and the key each, never values),
// the latest changes for tails, RocksDB's buffers and block cache. Values and history are on disk.
// Opening reads all of it once: about 0.3 s for 100,000 objects of 1 KiB.
namespace apiserver::inline v0 {
class ProgressSink;
}  // namespace apiserver::inline v0

namespace apiserver::inline v0::storage::rocks {

// The directory, the clock and the limits of a store.
struct Options {
  // Required. The directory; created with mode 0700 if it is missing.
  std::string path;

  // Determines when leases end and history ages. Must outlive the engine.
  const Clock& clock = RealClock();
  // Gets an entry when the disk fails. Must outlive the engine.
  LogSink& log = NullLogSink();
  // Receives the progress of two jobs (base/progress.h). "opening" counts the versions of keys that
  // it reads; how many there are is not known before. "compaction" counts the changes that are
  // deleted from disk once they are compacted; it is routine. Shared, as it is with a server's
  // other jobs. Null: there are no reports.
  std::shared_ptr<ProgressSink> progress = nullptr;

  // Limits a value's size; a larger one is refused with kRequestEntityTooLarge. The default is
  // etcd's, so that a value stored here can move there. Zero: no limit.
  std::size_t value_bytes_max = std::size_t{1536} * 1024;

  // Limits the history that is kept.
  kv::HistoryOptions history{.bytes_max = std::size_t{2} << 30};

  // Limits the bytes that RocksDB collects in memory before it writes a table; up to three of them,
  // and a quarter of each for the log.
  std::size_t write_buffer_bytes = 8 << 20;
  // The size of RocksDB's cache of uncompressed blocks.
  std::size_t block_cache_bytes = 32 << 20;
  // Limit the values of the latest changes that are kept in memory, and their number; tails that
  // are further behind read the disk.
  std::size_t recent_bytes_max = 16 << 20;
  std::size_t recent_events_max = 16'384;
  // Limits the writes that wait for the committer; more are refused with kServiceUnavailable.
  std::size_t queue_max = 16'384;
};

// Opens the store in `options.path`, or makes an empty one. Differences to the memory engine: a
// write, and a read whose values are not in memory, returns kWouldBlock where it may not wait;
// TxnAsync never waits; a tail that is far behind reads the disk in Next(). Leases begin anew at an
// opening, as etcd's do at an election.
//
// After a failed write the engine refuses all further ones with kInternalError, and Ready() returns
// the reason, until it has closed the files, opened them again and read their contents. It tries
// that at once and then every second; it succeeds when the disk has space again. Only then is it
// known, and shown, whether the failed write has happened. Leases begin anew. Reads go on
// meanwhile, except during an opening and after one that failed: those that need the disk, and
// tails that are far behind, end with kServiceUnavailable.
//
// kServiceUnavailable: another process, or another engine of this one, holds the directory's LOCK.
// kInternalError: the directory cannot be used, the store is damaged, or a newer version wrote it.
// kInvalid: no path was given.
Result<std::unique_ptr<kv::Engine>> Open(Options options);

}  // namespace apiserver::inline v0::storage::rocks
