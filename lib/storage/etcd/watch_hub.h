#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/log.h"
#include "storage/etcd/client.h"
#include "storage/etcd/convert.h"
#include "storage/etcd/tail_queue.h"

namespace apiserver::inline v0::storage::etcd {

// All tails of an engine, over one stream to etcd.
//
// A feed is one watch of etcd's. If all members tell true progress, every tail has a feed of its
// own, for its prefix. Otherwise there is one main feed over all keys: as every write is then seen,
// it is known up to which revision the feed is complete. A tail that begins in the past then has a
// feed over all keys of its own, until that has caught up with the main one and the tail moves
// over.
//
// The stream is opened again when it breaks; each feed then goes on where it was. It asks for one
// revision more than it needs: etcd before 3.4.36 and 3.5.19 forgets a deletion at exactly the
// revision that was compacted, and must then answer "compacted" rather than leave it out.
class WatchHub : public std::enable_shared_from_this<WatchHub> {
 public:
  struct Options {
    std::size_t tail_bytes_max;
    LogSink* log;
  };
  WatchHub(std::shared_ptr<Client> client, Options options)
      : client_(std::move(client)), options_(options) {}

  // If set, later tails have feeds of their own, and progress is asked for.
  void SetProgressTrusted(bool trusted);

  // Begins to fill `tail` from its next() on.
  void Attach(const std::shared_ptr<TailQueue>& tail);
  // Stops filling `tail`, which has lost its reader.
  void Detach(const std::shared_ptr<TailQueue>& tail);
  // Makes all tails soon report that they are complete up to `revision`.
  void WantProgress(kv::Revision revision);
  // Ends all tails and waits for the stream. Idempotent.
  void Stop();

 private:
  class Handler;
  struct Feed {
    std::string key;
    std::string end;
    kv::Revision next = 0;  // The least revision that has not been received whole.
    bool created = false;   // etcd has confirmed it on this stream.
    std::vector<kv::Event> fragments;
    std::vector<std::shared_ptr<TailQueue>> tails;
  };
  struct State {
    bool trusted = false;
    bool stopped = false;
    std::uint64_t generation = 0;  // The current stream's; messages of an older one are ignored.
    bool opening = false;          // A stream is being opened, or will be soon.
    std::shared_ptr<RpcStream> stream;
    int streams = 0;  // The number of streams that have not ended.
    std::chrono::milliseconds backoff{0};
    std::int64_t last_id = 0;
    std::map<std::int64_t, Feed> feeds;
    std::int64_t main = 0;  // The feed over all keys that tails share; 0: none.
    kv::Revision wanted = 0;
    int asks = 0;  // Progress requests that may still be sent; 0: no timer runs.
  };
  using Locked = Guarded<State>::Locked;
  // The wakers to use, and the tails to end, once the lock is released.
  struct After {
    std::vector<Waker> wakers;
    struct End {
      std::shared_ptr<TailQueue> tail;
      Status why;
      kv::Revision compacted;
    };
    std::vector<End> ends;
    void Run();
  };

  // Feeds.
  void AttachLocked(State& state, const std::shared_ptr<TailQueue>& tail);
  std::int64_t AddFeed(State& state, std::string key, std::string end,
                       const std::shared_ptr<TailQueue>& tail);
  void RemoveFeed(State& state, std::int64_t id);
  void Create(State& state, std::int64_t id, Feed& feed);
  // Moves the feed with this id to a new watch with another id.
  void Recreate(State& state, std::int64_t id);

  // The stream.
  void Open();
  void OpenSoon(State& state);
  void OnMessage(std::uint64_t generation, const std::string& message);
  void OnEnd(std::uint64_t generation, const RpcOutcome& outcome);
  void AskForProgress();

  // The messages that come in.
  void OnResponse(State& state, wire::WatchResponse& response, After& after);
  void OnCanceled(State& state, std::int64_t id, const wire::WatchResponse& response, After& after);
  void OnEvents(State& state, std::int64_t id, wire::WatchResponse& response, After& after);
  void Advance(State& state, std::int64_t id, const std::vector<kv::Event>& events,
               kv::Revision complete, After& after);
  void JoinMain(State& state, std::int64_t id);
  bool Behind(const State& state) const;

  const std::shared_ptr<Client> client_;
  const Options options_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::storage::etcd
