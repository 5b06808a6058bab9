#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

#include "apiserver/base/fair_share.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0 {

// One purpose's part of a server's memory, counted by its users. They decide what happens once it
// is used up. All methods may be called from any thread.
class MemoryShare {
 public:
  explicit MemoryShare(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;

  // Counts `bytes`, whether or not there is room.
  void Add(std::size_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  // Returns `bytes` that Add() counted.
  void Release(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  std::size_t bytes_max() const { return bytes_max_; }
  bool over() const { return used() > bytes_max_; }

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> used_{0};
};

// A share for things that can be made again: once it is used up, the least recently used ones are
// evicted. All methods may be called from any thread.
class EvictingShare {
 public:
  // An item that is kept while there is room; linked into the share in place.
  class Item {
   public:
    Item() = default;
    Item(const Item&) = delete;
    Item& operator=(const Item&) = delete;
    virtual ~Item() = default;  // Must have been removed.
    // Marks it as used. Costs a store.
    void Touch() { touched_.store(true, std::memory_order_relaxed); }

   protected:
    // Frees what is kept. Runs on the thread that adds another item, under the share's lock, which
    // it must not take again: it must not block.
    virtual void Evict() = 0;

   private:
    friend class EvictingShare;
    Item* older_ = nullptr;
    Item* newer_ = nullptr;
    std::size_t bytes_ = 0;
    bool linked_ = false;
    std::atomic<bool> touched_{false};
  };

  explicit EvictingShare(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Counts `item`, which is not counted yet, and evicts others until all fit; in the end `item`
  // itself.
  void Add(Item& item, std::size_t bytes);
  // Stops counting it; waits for an Evict() of it. Nothing happens if it was evicted.
  void Remove(Item& item);
  std::size_t used() const { return list_.Lock()->used; }
  std::size_t bytes_max() const { return bytes_max_; }

 private:
  struct List {
    Item* oldest = nullptr;
    Item* newest = nullptr;
    std::size_t used = 0;
  };
  static void Link(List& list, Item& item);
  static void Unlink(List& list, Item& item);
  static Item& LeastUsed(List& list);

  const std::size_t bytes_max_;
  Guarded<List> list_;
};

// The memory that a server uses beyond the state that it serves, one share for each purpose.
struct MemoryBudget {
  // The size of each share, in bytes.
  struct Limits {
    // Superseded and deleted objects that watch caches keep for resumed watches and for lists of
    // the past. When it is used up, each cache that changes drops its oldest ones, down to a
    // thousand: lists of such revisions are then read from the engine, and watches that have not
    // yet reached the dropped ones are closed.
    std::size_t history_bytes_max = std::size_t{64} << 20;
    // Objects encoded in other forms than the stored one (another version, protobuf), kept with
    // them for the next answer, and parsed ones that updates wrote, kept for the next update. When
    // it is used up the least recently used of both are dropped, and made again on request.
    std::size_t encodings_bytes_max = std::size_t{64} << 20;
    // Bodies of requests that are arriving or have arrived, until the request's work is over. A
    // body of announced length counts as a whole before it is read. A body for which there is no
    // room waits up to `room_wait_max`, unread, and is then refused with 429 and Retry-After.
    std::size_t bodies_bytes_max = std::size_t{128} << 20;
    // Objects decoded from bodies. While a body is decoded, the most that it may become is counted
    // (sixteen times the body and 64 KiB), then what it became, until the request's work is over. A
    // request for which there is no room waits up to `room_wait_max` and is then refused with 429
    // and Retry-After, before it has changed anything.
    std::size_t decoding_bytes_max = std::size_t{128} << 20;
    // Encoded answers that clients have not taken yet; shared bytes do not count. A tenant that is
    // over its part gets lists and watches in steps of a few KiB; its writes, and reads whose
    // answer must be made whole (a table, YAML, protobuf), are refused with 429 and Retry-After.
    std::size_t output_bytes_max = std::size_t{256} << 20;
    // How long a request waits for room in `bodies` or `decoding` before it is refused. Longer than
    // other requests take to decode the bodies they hold room for, shorter than clients wait.
    std::chrono::milliseconds room_wait_max = std::chrono::seconds(5);
  };
  // Makes the shares, each empty.
  explicit MemoryBudget(const Limits& limits)
      : history(limits.history_bytes_max),
        encodings(limits.encodings_bytes_max),
        bodies(limits.bodies_bytes_max),
        decoding(limits.decoding_bytes_max),
        output(limits.output_bytes_max),
        room_wait_max(limits.room_wait_max) {}
  MemoryBudget() : MemoryBudget(Limits()) {}

  MemoryShare history;
  EvictingShare encodings;
  // Divided among the users of the server; see FairShare for how much each may hold.
  FairShare bodies;
  FairShare decoding;
  FairShare output;
  const std::chrono::milliseconds room_wait_max;
};

}  // namespace apiserver::inline v0
