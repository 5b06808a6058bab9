#pragma once  // Library-internal: other rooms include this header.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/storage/kv/engine.h"
#include "storage/watch_events.h"

namespace apiserver::inline v0::storage::store {

using DecodeKeyValue =
    std::function<Result<runtime::ObjectPtr>(std::string_view key, const kv::Bytes&, kv::Revision)>;

// The keys and objects that a watch covers.
struct WatchScope {
  std::string key;
  bool recursive = true;  // If false, exactly `key`.
  KeptPredicate predicate;

  bool Covers(std::string_view other) const { return recursive || other == key; }
};

// Reads the changes of one scope from the engine's log.
class TailReader {
 public:
  // `kind` and `scope` must outlive it.
  TailReader(std::unique_ptr<kv::Tail> tail, const runtime::Kind& kind, const WatchScope& scope,
             DecodeKeyValue decode)
      : tail_(std::move(tail)),
        scope_(scope),
        decode_(std::move(decode)),
        maker_(kind, scope.predicate.get()) {}

  // Reads as watch::Stream::Next does; an error that ends the stream is appended as an event.
  // Objects are converted with `ctx` if the predicate wants it.
  watch::Stream::State Next(const Context& ctx, std::vector<watch::Event>& events,
                            std::size_t events_max, const Waker& waker);
  // All changes up to this revision have been appended.
  kv::Revision complete_up_to() const { return complete_up_to_; }

 private:
  Status Append(const Context& ctx, const kv::Event& event, std::vector<watch::Event>& events);
  // Appends the rest of the batch. False: `end` events were reached before that.
  Result<bool> AppendBatch(const Context& ctx, std::vector<watch::Event>& events, std::size_t end);
  // Reads until there are `end` events; those kept by the maker count.
  Result<watch::Stream::State> Read(const Context& ctx, std::vector<watch::Event>& events,
                                    std::size_t end, const Waker& waker);
  watch::Stream::State Fail(Status error, std::vector<watch::Event>& events);
  Status Interpret(const Status& error) const;

  std::unique_ptr<kv::Tail> tail_;
  const WatchScope& scope_;
  DecodeKeyValue decode_;
  EventMaker maker_;
  kv::EventBatch batch_;
  std::size_t next_ = 0;  // The next index in batch_.
  kv::Revision complete_up_to_ = 0;
  bool failed_ = false;
};

}  // namespace apiserver::inline v0::storage::store
