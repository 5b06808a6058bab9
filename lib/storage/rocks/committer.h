#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <vector>

#include "apiserver/base/progress.h"
#include "apiserver/base/sync.h"
#include "storage/kv/history_policy.h"
#include "storage/kv/lease_table.h"
#include "storage/kv/lease_thread.h"
#include "storage/rocks/batch.h"
#include "storage/rocks/op.h"
#include "storage/rocks/recovery.h"
#include "storage/rocks/store.h"
#include "storage/rocks/trimmer.h"

namespace apiserver::inline v0::storage::rocks {

// The one thread that writes. It takes all waiting operations, makes them durable with one sync,
// shows them to readers, observers and tails, and answers: in this order.
//
// A write that failed may be on disk whole or not at all, and RocksDB cannot tell. So nothing more
// is written until the database has been closed, opened and read again, which is tried at once and
// then every kRetryMax; the writes found there are shown like any others.
class Committer {
 public:
  // `recovered` holds the rest of what was read; its state is in the store already.
  Committer(Store& store, Recovered recovered);
  ~Committer() { Stop(); }

  // Queues `op`. kServiceUnavailable: the queue is full, or it was stopped. `op` is untouched then.
  Status Enqueue(OpRef op);
  // Waits for `op`, at most until `ctx` is done; returns the op's status.
  Status Await(const Context& ctx, Op& op);
  // Completes the queued operations, then ends the thread. Idempotent.
  void Stop();
  // True if a lease has ended and has not been expired yet.
  bool LeaseDue() const { return lease_thread_.Due(); }

 private:
  struct Queue {
    std::vector<OpRef> ops;
    std::size_t wake_at = 1;  // The committer is woken when so many wait.
    bool failed = false;      // RocksDB's own work has failed.
    bool stopping = false;
  };

  void Run();
  // Takes all that waits. False: the queue is empty and stopped.
  bool Take(std::vector<OpRef>& ops);
  // Waits a moment for the writers that were just answered to write again.
  void Gather(Guarded<Queue>::Locked& queue);
  void Commit(std::vector<OpRef>& ops);
  Status Write(Batch& batch);
  void Publish(Batch& batch, std::size_t freed_bytes);
  // The changes to report to observers and tails.
  struct Shown {
    Events events;  // May be null.
    Revision revision = 0;
    Revision compacted = 0;  // Zero: unchanged.
  };
  void Show(const Shown& shown);
  void Break(const Status& why);
  // Opens the database anew if that is needed and due.
  void Mend();
  Status Reopen();
  Status OpenAgain(ProgressReporter& opening);
  // Shows the writes that `found` has and the state has not.
  Status Adopt(Recovered found);
  void TrimWhileIdle();
  // Reports how many compacted changes are still on disk.
  void TellOfTrimming();
  void CompactByPolicy();
  void ExpireSoon();
  static void Answer(Op& op, const Status& failed);

  Store& store_;
  kv::LeaseTable leases_;
  kv::HistoryPolicy history_;
  std::optional<Trimmer> trimmer_;
  std::optional<ProgressReporter> compaction_;  // Set while there is something to trim.
  Revision compacted_ = 0;  // Equals the state's; only the committer changes it.
  bool broken_ = false;
  bool lost_ = false;  // Broken and beyond repair.
  Clock::Monotonic retry_at_;
  std::chrono::milliseconds retry_after_{0};
  std::size_t last_size_ = 0;              // The number of operations in the last batch.
  std::chrono::nanoseconds last_sync_{0};  // The duration of its sync.
  std::atomic<bool> expiring_ = false;     // The lease thread's request is queued already.
  Guarded<Queue> queue_;
  kv::LeaseThread lease_thread_;
  Thread thread_;
};

}  // namespace apiserver::inline v0::storage::rocks
