#include <algorithm>
#include <iterator>
#include <utility>

#include "storage/etcd/watch_hub.h"
#include "storage/kv/errors.h"

// The messages of etcd's stream, and how they become batches of tails.
namespace apiserver::v0::storage::etcd {
namespace {

// The watch id in etcd's answer to a progress request, which is about all watches of the stream.
constexpr std::int64_t kEveryWatch = -1;
constexpr std::chrono::milliseconds kBeforeRecreation{200};

}  // namespace

void WatchHub::OnMessage(std::uint64_t generation, const std::string& message) {
  wire::WatchResponse response;
  After after;
  if (!response.ParseFromString(message)) {
    auto state = state_.Lock();
    if (state->generation == generation && state->stream != nullptr) state->stream->Cancel();
    return;
  }
  {
    auto state = state_.Lock();
    if (state->generation != generation || state->stopped) return;
    state->backoff = {};
    OnResponse(*state, response, after);
  }
  after.Run();
}

void WatchHub::OnResponse(State& state, wire::WatchResponse& response, After& after) {
  const kv::Revision revision = response.header().revision();
  const std::int64_t id = response.watch_id();
  if (id == kEveryWatch) {
    // A refusal, from 3.5 on, does not name its watch: it is one that is not confirmed.
    const bool refusal = response.canceled();
    std::vector<std::int64_t> ids;
    for (const auto& [feed_id, feed] : state.feeds) {
      if (feed.created != refusal) ids.push_back(feed_id);
    }
    for (const std::int64_t feed_id : ids) {
      if (refusal) {
        OnCanceled(state, feed_id, response, after);
      } else if (state.trusted) {
        Advance(state, feed_id, {}, revision, after);
      }
    }
    return;
  }
  const auto found = state.feeds.find(id);
  if (found == state.feeds.end()) return;
  if (response.created()) found->second.created = true;
  if (response.canceled()) {
    OnCanceled(state, id, response, after);
  } else if (!response.events().empty() || response.fragment() ||
             !found->second.fragments.empty()) {
    OnEvents(state, id, response, after);
  } else if (!response.created() && state.trusted) {
    Advance(state, id, {}, revision, after);
  }
}

void WatchHub::OnCanceled(State& state, std::int64_t id, const wire::WatchResponse& response,
                          After& after) {
  Feed& feed = state.feeds.at(id);
  const kv::Revision compacted = response.compact_revision();
  Status why;
  if (compacted > 0) {
    client_->known().SawCompaction(compacted);
    why = kv::NewCompactedError(feed.next, compacted);
  } else {
    const RpcOutcome outcome{RpcCode::kUnknown, response.cancel_reason()};
    if (!IsDenied(outcome)) {
      // A new watch would not meet the reason again, so one is opened.
      feed.created = false;
      client_->timers().After(kBeforeRecreation, [self = shared_from_this(), id] {
        self->Recreate(*self->state_.Lock(), id);
      });
      return;
    }
    // The token belongs to the stream: another one goes on where this one was.
    if (client_->rpc().RenewCredentials()) {
      if (state.stream != nullptr) state.stream->Cancel();
      return;
    }
    why = client_->StatusOf(outcome);
  }
  for (auto& tail : feed.tails) after.ends.push_back({std::move(tail), why, compacted});
  state.feeds.erase(id);
  if (state.main == id) state.main = 0;
}

void WatchHub::OnEvents(State& state, std::int64_t id, wire::WatchResponse& response,
                        After& after) {
  Feed& feed = state.feeds.at(id);
  for (wire::Event& event : *response.mutable_events()) {
    if (event.kv().mod_revision() >= feed.next) feed.fragments.push_back(ToEvent(event));
  }
  if (response.fragment()) return;
  const std::vector<kv::Event> events = std::exchange(feed.fragments, {});
  if (events.empty()) return;
  client_->known().SawRevision(events.back().kv.mod_revision);
  // etcd sends all events of a revision in one answer.
  Advance(state, id, events, events.back().kv.mod_revision, after);
}

void WatchHub::Advance(State& state, std::int64_t id, const std::vector<kv::Event>& events,
                       kv::Revision complete, After& after) {
  Feed& feed = state.feeds.at(id);
  if (complete < feed.next) return;
  // Without events this is progress itself, which a reader may be waiting for.
  const bool hurry = feed.next <= state.wanted || events.empty();
  feed.next = complete + 1;
  for (const auto& tail : feed.tails) {
    if (Waker waker = tail->Offer(events, complete, hurry); !waker.empty()) {
      after.wakers.push_back(std::move(waker));
    }
  }
  std::erase_if(feed.tails, [](const auto& tail) {
    if (!tail->full()) return false;
    tail->starving = true;
    return true;
  });
  if (feed.tails.empty()) {
    RemoveFeed(state, id);
  } else if (state.main != 0 && id != state.main && feed.key == std::string(1, '\0') &&
             feed.end == feed.key) {
    JoinMain(state, id);
  }
}

// Merges a feed over all keys that was behind into the main one, once it has all that the main one
// has.
void WatchHub::JoinMain(State& state, std::int64_t id) {
  Feed& feed = state.feeds.at(id);
  Feed& main = state.feeds.at(state.main);
  if (feed.next < main.next) return;
  std::move(feed.tails.begin(), feed.tails.end(), std::back_inserter(main.tails));
  feed.tails.clear();
  RemoveFeed(state, id);
}

}  // namespace apiserver::v0::storage::etcd
