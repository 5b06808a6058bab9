#pragma once

#include <memory>
#include <vector>

#include "storage/etcd/client.h"

namespace apiserver::inline v0::storage::etcd {

// Where compactors tell each other how far they have come; shared with Go's servers.
inline constexpr const char* kCompactRevisionKey = "compact_rev_key";

// The store's revision, linearizable. One read serves all that asked before it was sent: there is
// at most one on its way, and who comes meanwhile waits for the next. It reads kCompactRevisionKey,
// so that compactions by others are seen on the way. Thread-safe.
class SharedRevision : public std::enable_shared_from_this<SharedRevision> {
 public:
  using Done = UniqueFunction<void(Result<kv::Revision>)>;

  SharedRevision(std::shared_ptr<Client> client, std::chrono::milliseconds timeout)
      : client_(std::move(client)), timeout_(timeout) {}

  // `done` is called once, on any thread, perhaps before this returns.
  void Get(Done done);

 private:
  struct State {
    bool running = false;
    std::vector<Done> waiting;  // For the next read.
  };
  void Read(std::vector<Done> asked);

  const std::shared_ptr<Client> client_;
  const std::chrono::milliseconds timeout_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::storage::etcd
