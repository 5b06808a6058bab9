#pragma once

#include <memory>
#include <optional>

#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/progress.h"
#include "storage/etcd/client.h"

namespace apiserver::inline v0::storage::etcd {

// Compacts etcd in turns with all servers that share it, of this library and of Go (upstream:
// etcd3/compact.go).
//
// The version of kCompactRevisionKey is a clock. Each interval, a server that finds the version
// where it last saw it moves it by writing to the key, and compacts at the revision that the store
// had at its last look. A server that finds it moved only notes the new version. So history of one
// to two intervals is kept, and the first round of a server compacts nothing.
class Compactor : public std::enable_shared_from_this<Compactor> {
 public:
  struct Options {
    std::chrono::milliseconds interval;
    std::shared_ptr<ProgressSink> progress;
    const Clock* clock;
    LogSink* log;
  };
  Compactor(std::shared_ptr<Client> client, Options options)
      : client_(std::move(client)), options_(std::move(options)) {}

  // Starts to work, until the client stops.
  void Start();

 private:
  void Wait();
  void Round();
  void OnTurn(bool ours, std::int64_t version, kv::Revision revision, kv::Revision compacted);
  void Compact(kv::Revision at, std::int64_t version, kv::Revision revision);
  // Begins the job of a compaction at `at`.
  void BeginJob(kv::Revision at);
  void Failed(const RpcOutcome& outcome);

  const std::shared_ptr<Client> client_;
  const Options options_;
  Clock::Monotonic next_;
  // The values of the last look; only one round runs at a time.
  std::int64_t version_ = 0;
  kv::Revision revision_ = 0;
  // The last compaction known when the round began. The round itself writes down the next one,
  // which the engine may see before it is made.
  kv::Revision compacted_ = 0;
  std::optional<ProgressReporter> job_;  // The compaction that etcd has been asked for.
};

}  // namespace apiserver::inline v0::storage::etcd
