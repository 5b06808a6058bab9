#include "storage/etcd/tail_queue.h"

#include <iterator>

namespace apiserver::v0::storage::etcd {
namespace {

// Limits the events of one Next(), except that an answer of etcd is not split.
constexpr std::size_t kBatchEvents = 256;

std::size_t SizeOf(const kv::Event& event) {
  std::size_t bytes = sizeof(event) + event.kv.key.size() * 2;
  if (event.kv.value != nullptr) bytes += event.kv.value->size();
  if (event.previous.value != nullptr) bytes += event.previous.value->size();
  return bytes;
}

std::size_t SizeOf(const kv::EventBatch& batch) {
  std::size_t bytes = 0;
  for (const kv::Event& event : batch.events) bytes += SizeOf(event);
  return bytes;
}

}  // namespace

Waker TailQueue::Offer(const std::vector<kv::Event>& events, kv::Revision complete, bool hurry) {
  auto state = state_.Lock();
  // A feed that was created anew repeats events, and tails of one feed may be at different places.
  if (state->ended || complete <= state->complete) return {};
  kv::EventBatch batch;
  for (const kv::Event& event : events) {
    if (event.kv.mod_revision > state->complete && event.kv.key.starts_with(prefix_)) {
      batch.events.push_back(event);
    }
  }
  state->complete = complete;
  if (batch.events.empty() && !hurry) return {};
  if (!batch.events.empty()) {
    batch.complete_up_to = batch.events.back().kv.mod_revision;
    state->bytes += SizeOf(batch);
    state->batches.push_back(std::move(batch));
  }
  return std::exchange(state->waker, {});
}

void TailQueue::End(Status why, kv::Revision compacted) {
  Waker waker;
  {
    auto state = state_.Lock();
    if (state->ended) return;
    state->ended = true;
    state->end = std::move(why);
    state->compacted = compacted;
    waker = std::exchange(state->waker, {});
  }
  if (!waker.empty()) waker.Wake();
}

Waker TailQueue::Hurry() {
  auto state = state_.Lock();
  if (state->complete <= state->read) return {};
  return std::exchange(state->waker, {});
}

TailQueue::Read TailQueue::Next(kv::EventBatch& batch, const Waker& waker) {
  using Tail = kv::Tail;
  batch.events.clear();
  batch.complete_up_to = 0;
  auto state = state_.Lock();
  // After a compaction the queued events are still delivered. Any other end, as of a stopped
  // engine, comes at once: the same end would only follow the queued events.
  if (state->ended && (state->batches.empty() || state->end.reason() != Reason::kExpired)) {
    return {Tail::State::kEnd, false};
  }
  while (!state->batches.empty() &&
         (batch.events.empty() ||
          batch.events.size() + state->batches.front().events.size() <= kBatchEvents)) {
    kv::EventBatch& front = state->batches.front();
    state->bytes -= SizeOf(front);
    if (batch.events.empty()) {
      batch.events = std::move(front.events);
    } else {
      std::move(front.events.begin(), front.events.end(), std::back_inserter(batch.events));
    }
    state->read = front.complete_up_to;
    state->batches.pop_front();
  }
  const bool empty = state->batches.empty();
  if (batch.events.empty() && state->complete == state->read) {
    state->waker = waker;
    return {Tail::State::kWait, true};
  }
  if (empty) state->read = state->complete;
  batch.complete_up_to = state->read;
  return {Tail::State::kEvents, empty};
}

}  // namespace apiserver::v0::storage::etcd
