#include "storage/store/tail_stream.h"

#include <algorithm>
#include <utility>

#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "storage/corrupt_objects.h"
#include "storage/errors.h"

namespace apiserver::v0::storage::store {

Status TailReader::Append(const Context& ctx, const kv::Event& event,
                          std::vector<watch::Event>& events) {
  if (!scope_.Covers(event.kv.key)) return {};
  const bool put = event.type == kv::Event::Type::kPut;
  // History that was compacted meanwhile may lack the former value; as in etcd3's watcher, the
  // watch then ends with an error.
  if (!(put && event.is_create) && event.previous.value == nullptr) {
    return Status(Reason::kInternalError,
                  "event received without a previous value (key=\"" + event.kv.key +
                      "\", modRevision=" + std::to_string(event.kv.mod_revision) + ")");
  }
  const std::string version = std::to_string(event.kv.mod_revision);
  runtime::ObjectPtr now;
  runtime::ObjectPtr before;
  if (put) {
    auto decoded = decode_(event.kv.key, event.kv.value, event.kv.mod_revision);
    if (!decoded.ok()) return NewCorruptEvent(decoded.status(), false);
    now = *std::move(decoded);
  }
  if (put && scope_.predicate == nullptr) {
    // The object before is not looked at, so it need not even be readable.
    if (event.previous.value != nullptr) before = now;
  } else if (event.previous.value != nullptr) {
    auto decoded = decode_(event.kv.key, event.previous.value, event.previous.mod_revision);
    if (!decoded.ok()) return NewCorruptEvent(decoded.status(), !put);
    before = *std::move(decoded);
  }
  return maker_.Add(ctx, {now, before, version}, events);
}

Status TailReader::Interpret(const Status& error) const {
  if (error.reason() == Reason::kExpired) {
    return meta::NewResourceExpired(std::string(kWatchExpired));
  }
  return error;
}

watch::Stream::State TailReader::Fail(Status error, std::vector<watch::Event>& events) {
  failed_ = true;
  events.push_back(NewErrorEvent(std::move(error)));
  return watch::Stream::State::kEnd;
}

watch::Stream::State TailReader::Next(const Context& ctx, std::vector<watch::Event>& events,
                                      std::size_t events_max, const Waker& waker) {
  if (failed_) return watch::Stream::State::kEnd;
  auto state = Read(ctx, events, events.size() + events_max, waker);
  // The error that ends the watch comes after the events before it.
  const Status unselectable = maker_.Flush(ctx, events);
  if (!unselectable.ok()) return Fail(unselectable, events);
  if (!state.ok()) return Fail(state.status(), events);
  return *state;
}

Result<bool> TailReader::AppendBatch(const Context& ctx, std::vector<watch::Event>& events,
                                     std::size_t end) {
  while (next_ < batch_.events.size()) {
    if (events.size() + maker_.kept() >= end) return false;
    RETURN_IF_ERROR(Append(ctx, batch_.events[next_++], events));
  }
  return true;
}

Result<watch::Stream::State> TailReader::Read(const Context& ctx, std::vector<watch::Event>& events,
                                              std::size_t end, const Waker& waker) {
  for (;;) {
    ASSIGN_OR_RETURN(const bool all, AppendBatch(ctx, events, end));
    if (!all) return watch::Stream::State::kMore;
    complete_up_to_ = std::max(complete_up_to_, batch_.complete_up_to);
    batch_ = {};
    next_ = 0;
    switch (tail_->Next(batch_, waker)) {
      case kv::Tail::State::kEvents:
        break;
      case kv::Tail::State::kWait:
        return watch::Stream::State::kWait;
      case kv::Tail::State::kEnd:
        // A server that stops ends its watches without an error event.
        if (tail_->status().reason() == Reason::kServiceUnavailable) {
          failed_ = true;
          return watch::Stream::State::kEnd;
        }
        return Interpret(tail_->status());
    }
  }
}

}  // namespace apiserver::v0::storage::store
