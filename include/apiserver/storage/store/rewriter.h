#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/log.h"
#include "apiserver/runtime/names.h"
#include "apiserver/storage/interface.h"
#include "apiserver/storage/store/store.h"

namespace apiserver::inline v0 {
class ProgressSink;
}  // namespace apiserver::inline v0

// Rewrites stored values that would be written in another way now: encrypted with an older key, or
// in another version than the storage version. Go has no such part; a StorageVersionMigration is
// what does it there.
namespace apiserver::inline v0::storage::store {

// The resources and the pace of a Rewriter, and where it reports.
struct RewriterOptions {
  // True for the resources whose values are looked at. Asked once for each resource in each run, on
  // the run's thread; must not block. Null: all resources.
  std::function<bool(const runtime::GroupResource&)> concerns = nullptr;
  // Limits the values that are rewritten in a second, so that they do not hurt those who are
  // served; ten times as many are looked at. Zero: there is no limit.
  std::size_t rewrites_per_second_max = 200;
  // Limits the values that one read of the engine asks for; large values are read fewer at a time.
  std::size_t page_objects_max = 500;
  // Receives each run as a job "re-encryption" (base/progress.h). Null: there are no reports.
  std::shared_ptr<ProgressSink> progress = nullptr;
  const Clock* clock = &RealClock();
  // Gets a line at the end of each run, and one for each of the first values that are left as they
  // are. Must outlive the rewriter.
  LogSink* log = &NullLogSink();
};

// Counts the values of a run.
struct RewriteCounts {
  std::uint64_t looked_at = 0;   // Values that were read, some of them more than once.
  std::uint64_t rewritten = 0;   // Values that were stale and are no longer.
  std::uint64_t unreadable = 0;  // Values that cannot be read, whose key is lost, say; left alone.
  std::uint64_t failed = 0;      // Stale values whose write was refused; left alone.

  friend bool operator==(const RewriteCounts&, const RewriteCounts&) = default;
};

// Rewrites the stale values of its storages, each by an update that changes nothing: no write of
// others is lost, resource versions move and watches see MODIFIED, as with `kubectl replace`. A run
// that ends early loses nothing, for the next one finds what is left. Servers over one etcd may run
// at the same time. Any thread may call its methods.
class Rewriter {
 public:
  virtual ~Rewriter() = default;  // Stops.

  // Lets runs look at the values of `storage`, which is that of `options` or a cache in front of
  // it. Once there has been a Start(), one follows for the new storage. What is returned must be
  // destroyed before the storage and the engine; that waits until the run has left them.
  [[nodiscard]] virtual Context::Registration Add(Options options, Interface& storage) = 0;
  // Begins a run over all storages on a thread of its own. While one goes on, another follows it.
  // Nothing happens after Stop().
  virtual void Start() = 0;
  // Makes a run on the calling thread, which waits for one that goes on. What the engine cannot
  // answer is tried again until it can, or until `ctx` is done. Any error of `ctx`.
  // kInternalError: the run is complete, but some values had to be left as they are, which the
  // message counts, or somebody else keeps writing stale ones.
  virtual Status Run(const Context& ctx, RewriteCounts& counts) = 0;
  // Ends a run of Start() and waits for it. Idempotent.
  virtual void Stop() = 0;
};

// Makes a rewriter, which has no thread before its first Start().
std::unique_ptr<Rewriter> NewRewriter(RewriterOptions options);

}  // namespace apiserver::inline v0::storage::store
