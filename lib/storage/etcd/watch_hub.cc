#include "storage/etcd/watch_hub.h"

#include <algorithm>
#include <utility>

#include "storage/kv/errors.h"

namespace apiserver::v0::storage::etcd {
namespace {

constexpr std::chrono::milliseconds kFirstBackoff{50};
constexpr std::chrono::milliseconds kLongestBackoff{1000};
constexpr std::chrono::milliseconds kBetweenAsks{100};
// The number of progress requests for one wish: a reader that waits longer has given up, or asks
// again.
constexpr int kAsks = 50;

const std::string& AllKeys() {
  static const std::string all(1, '\0');
  return all;
}

std::string ProgressMessage() {
  wire::WatchRequest request;
  request.mutable_progress_request();
  return request.SerializeAsString();
}

}  // namespace

// Receives one stream's messages; it knows the stream's generation.
class WatchHub::Handler final : public RpcStreamHandler {
 public:
  Handler(std::shared_ptr<WatchHub> hub, std::uint64_t generation)
      : hub_(std::move(hub)), generation_(generation) {}
  void OnMessage(std::string message) override { hub_->OnMessage(generation_, message); }
  void OnEnd(const RpcOutcome& outcome) override { hub_->OnEnd(generation_, outcome); }

 private:
  const std::shared_ptr<WatchHub> hub_;
  const std::uint64_t generation_;
};

// Tails are woken after the lock is released: their readers may call the hub at once.
void WatchHub::After::Run() {
  Waker::WakeAll(wakers);
  for (End& end : ends) end.tail->End(std::move(end.why), end.compacted);
}

void WatchHub::SetProgressTrusted(bool trusted) { state_.Lock()->trusted = trusted; }

void WatchHub::Attach(const std::shared_ptr<TailQueue>& tail) {
  {
    auto state = state_.Lock();
    if (!state->stopped) {
      AttachLocked(*state, tail);
      return;
    }
  }
  tail->End(kv::NewStoppedError(), 0);
}

void WatchHub::AttachLocked(State& state, const std::shared_ptr<TailQueue>& tail) {
  tail->starving = false;
  // Each tail can have a narrow watch of its own if progress is true, and etcd sends only its
  // events.
  if (state.trusted) {
    AddFeed(state, tail->prefix().empty() ? AllKeys() : tail->prefix(),
            kv::PrefixEnd(tail->prefix()), tail);
    return;
  }
  // Otherwise only a watch over all keys shows how complete it is, so tails share one.
  const auto main = state.feeds.find(state.main);
  if (main != state.feeds.end() && main->second.next <= tail->next()) {
    main->second.tails.push_back(tail);
    return;
  }
  const std::int64_t id = AddFeed(state, AllKeys(), AllKeys(), tail);
  if (main == state.feeds.end()) state.main = id;
}

void WatchHub::Detach(const std::shared_ptr<TailQueue>& tail) {
  auto state = state_.Lock();
  for (auto& [id, feed] : state->feeds) {
    if (std::erase(feed.tails, tail) == 0) continue;
    if (feed.tails.empty()) RemoveFeed(*state, id);
    return;
  }
}

std::int64_t WatchHub::AddFeed(State& state, std::string key, std::string end,
                               const std::shared_ptr<TailQueue>& tail) {
  const std::int64_t id = ++state.last_id;
  Feed& feed = state.feeds[id];
  feed.key = std::move(key);
  feed.end = std::move(end);
  feed.next = tail->next();
  feed.tails = {tail};
  if (state.stream != nullptr) {
    Create(state, id, feed);
  } else {
    OpenSoon(state);
  }
  return id;
}

void WatchHub::RemoveFeed(State& state, std::int64_t id) {
  if (state.stream != nullptr) {
    wire::WatchRequest request;
    request.mutable_cancel_request()->set_watch_id(id);
    state.stream->Write(request.SerializeAsString());
  }
  state.feeds.erase(id);
  if (state.main == id) state.main = 0;
}

void WatchHub::Create(State& state, std::int64_t id, Feed& feed) {
  feed.created = false;
  feed.fragments.clear();
  wire::WatchRequest request;
  wire::WatchCreateRequest& create = *request.mutable_create_request();
  create.set_key(feed.key);
  create.set_range_end(feed.end);
  // Zero would mean "now".
  create.set_start_revision(std::max<kv::Revision>(feed.next - 1, 1));
  create.set_progress_notify(true);
  create.set_prev_kv(true);
  create.set_watch_id(id);
  create.set_fragment(true);
  state.stream->Write(request.SerializeAsString());
}

void WatchHub::Recreate(State& state, std::int64_t id) {
  auto node = state.feeds.extract(id);
  if (node.empty()) return;
  // A new id, since messages for the old one may still be on their way.
  node.key() = ++state.last_id;
  if (state.main == id) state.main = node.key();
  const auto placed = state.feeds.insert(std::move(node)).position;
  if (state.stream != nullptr) Create(state, placed->first, placed->second);
}

void WatchHub::OpenSoon(State& state) {
  if (state.opening || state.stopped) return;
  state.opening = true;
  client_->timers().After(state.backoff, [self = shared_from_this()] { self->Open(); });
  state.backoff = std::clamp(state.backoff * 2, kFirstBackoff, kLongestBackoff);
}

void WatchHub::Open() {
  std::uint64_t generation = 0;
  {
    // The generation tells this stream's messages from those of one that is about to end.
    auto state = state_.Lock();
    if (state->stopped) return;
    generation = ++state->generation;
    ++state->streams;
  }
  auto stream = client_->rpc().Stream(kWatchMethod,
                                      std::make_shared<Handler>(shared_from_this(), generation));
  {
    auto state = state_.Lock();
    // Otherwise the stream is over already, or the hub has stopped.
    if (state->generation == generation && !state->stopped) {
      state->opening = false;
      state->stream = stream;
      for (auto& [id, feed] : state->feeds) Create(*state, id, feed);
      return;
    }
  }
  stream->Cancel();
}

void WatchHub::OnEnd(std::uint64_t generation, const RpcOutcome& outcome) {
  bool told = false;
  {
    auto state = state_.Lock();
    --state->streams;
    if (state->generation == generation) {
      ++state->generation;
      state->stream = nullptr;
      state->opening = false;
      if (!state->feeds.empty()) OpenSoon(*state);
      // Only the first failure after a success is logged, not every attempt.
      told = !state->stopped && state->backoff == kFirstBackoff;
    }
  }
  state_.NotifyAll();
  if (!told) return;
  Log(*options_.log, LogLevel::kWarning, "the watch of etcd broke off; it goes on where it was",
      {{"servers", client_->servers()}, {"why", outcome.message}});
}

void WatchHub::WantProgress(kv::Revision revision) {
  After after;
  bool ask = false;
  {
    auto state = state_.Lock();
    state->wanted = std::max(state->wanted, revision);
    for (const auto& [id, feed] : state->feeds) {
      for (const auto& tail : feed.tails) {
        if (Waker waker = tail->Hurry(); !waker.empty()) after.wakers.push_back(std::move(waker));
      }
    }
    const bool asking = state->asks > 0;
    const bool wish = state->trusted && !state->stopped && Behind(*state);
    ask = wish && !asking;
    // A timer that runs goes on for longer. Without a wish none is started, so none is noted: later
    // wishes would wait for it.
    if (wish) state->asks = kAsks;
  }
  after.Run();
  if (ask) AskForProgress();
}

bool WatchHub::Behind(const State& state) const {
  return std::any_of(state.feeds.begin(), state.feeds.end(),
                     [&state](const auto& entry) { return entry.second.next <= state.wanted; });
}

void WatchHub::AskForProgress() {
  {
    auto state = state_.Lock();
    if (state->stopped || state->asks == 0) return;
    state->asks = Behind(*state) ? state->asks - 1 : 0;
    if (state->asks == 0) return;
    if (state->stream != nullptr) state->stream->Write(ProgressMessage());
  }
  client_->timers().After(kBetweenAsks, [self = shared_from_this()] { self->AskForProgress(); });
}

void WatchHub::Stop() {
  After after;
  std::shared_ptr<RpcStream> stream;
  {
    auto state = state_.Lock();
    state->stopped = true;
    for (auto& [id, feed] : state->feeds) {
      for (auto& tail : feed.tails) {
        after.ends.push_back({std::move(tail), kv::NewStoppedError(), 0});
      }
    }
    state->feeds.clear();
    stream = std::move(state->stream);
    state->stream = nullptr;
  }
  after.Run();
  if (stream != nullptr) stream->Cancel();
  auto state = state_.Lock();
  // The streams' handlers use the client, so they must end before its owner goes on.
  state.Wait([&state] { return state->streams == 0; });
}

}  // namespace apiserver::v0::storage::etcd
