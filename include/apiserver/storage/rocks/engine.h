#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/storage/kv/engine.h"
#include "apiserver/storage/kv/history.h"

// The embedded default: one directory, one process, RocksDB. One thread commits: it takes all
// writes that wait, makes them durable with one sync, shows them to the observers and answers.
//
// In memory: the live keys with their revisions (some 120 bytes and the key each, never values),
// the changes of the last moments for those who follow, RocksDB's buffers and block cache. Values
// and history are on disk. Opening reads all of it once: about 0.3 s for 100,000 objects of 1 KiB.
namespace apiserver::inline v0::storage::rocks {

struct Options {
  // Required. The directory; created with mode 0700 if it is missing.
  std::string path;

  // Tells when leases end and history ages. Must outlive the engine.
  const Clock& clock = RealClock();
  // Told when the disk fails. Must outlive the engine.
  LogSink& log = NullLogSink();

  // The largest value; a larger one is kRequestEntityTooLarge. The default is etcd's, so that what
  // is stored here can move there. Zero: no limit.
  std::size_t value_bytes_max = std::size_t{1536} * 1024;

  kv::HistoryOptions history{.bytes_max = std::size_t{2} << 30};

  // What RocksDB collects in memory before it writes a table; up to three of them, and a quarter of
  // each for the log.
  std::size_t write_buffer_bytes = 8 << 20;
  std::size_t block_cache_bytes = 32 << 20;
  // Values of the last changes that are kept in memory, and the changes themselves; tails that are
  // further behind read the disk.
  std::size_t recent_bytes_max = 16 << 20;
  std::size_t recent_events_max = 16'384;
  // Writes that may wait for the committer; more are kServiceUnavailable.
  std::size_t queue_max = 16'384;
};

// Opens the store in `options.path`, or makes an empty one. Differences to the memory engine: a
// write, and a read whose values are not in memory, answers kWouldBlock where it may not wait;
// TxnAsync never waits; a tail that is far behind reads the disk in Next(). Leases begin anew at an
// opening, as etcd's do at an election.
//
// After a failed write the engine refuses all further ones with kInternalError, and Ready() says
// why, until it has closed the files, opened them again and read what they hold: which it tries at
// once and then every second, and which succeeds when the disk has space again. Whether the write
// that failed has happened is known, and shown, only then. Leases begin anew. Reads go on
// meanwhile, but for the moment of opening, and for good where that fails: those that need the
// disk, and tails that are far behind, end with kServiceUnavailable.
//
// kServiceUnavailable: another process, or another engine of this one, holds the directory's LOCK.
// kInternalError: the directory cannot be used, the store is damaged, or a newer version wrote it.
// kInvalid: no path was given.
Result<std::unique_ptr<kv::Engine>> Open(Options options);

}  // namespace apiserver::inline v0::storage::rocks
