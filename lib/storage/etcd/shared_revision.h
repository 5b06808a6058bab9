#pragma once

#include <memory>
#include <vector>

#include "storage/etcd/client.h"

namespace apiserver::inline v0::storage::etcd {

// The key in which compactors tell each other their progress; shared with Go's servers.
inline constexpr const char* kCompactRevisionKey = "compact_rev_key";

// The store's revision, linearizable. One read serves all callers that asked before it was sent: at
// most one is on its way, and a caller that comes meanwhile waits for the next. It reads
// kCompactRevisionKey, so that compactions by others are seen on the way. Thread-safe.
class SharedRevision : public std::enable_shared_from_this<SharedRevision> {
 public:
  using Done = UniqueFunction<void(Result<kv::Revision>)>;

  SharedRevision(std::shared_ptr<Client> client, std::chrono::milliseconds timeout)
      : client_(std::move(client)), timeout_(timeout) {}

  // Calls `done` once, on any thread, perhaps before this returns. It must not block.
  void Get(Done done);

 private:
  struct State {
    bool running = false;
    std::vector<Done> waiting;  // They wait for the next read.
  };
  void Read(std::vector<Done> asked);

  const std::shared_ptr<Client> client_;
  const std::chrono::milliseconds timeout_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::storage::etcd
