#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::storage::kv {

// The observers of an embedded engine, for its author: does what Engine::Observe() promises. Add()
// and empty() may be called from any thread. Looking up the observers of a key takes
// O(log n) steps among n prefixes, and one for each observer found; prefixes that are nested beside
// the key's own add one for each level.
class Observers final {
 public:
  Observers();
  // Registrations that Add() returned may outlive this.
  ~Observers();

  // Registers `observer` for what is committed after `begin`, the revision that readers see now. To
  // be called under the lock in which the engine shows a commit to readers: so every commit either
  // is in `begin` or finds the observer.
  std::unique_ptr<Observation> Add(std::string_view prefix, Observer& observer, Revision begin);

  // Returns whether nobody observes: Commit() then needs no events. To be called after the commit
  // was shown to readers.
  bool empty() const;

  // Delivers a commit that is durable and shown to readers, before its writers are answered.
  // `events` are all of the commit, in revision order. One call of these two at a time, in revision
  // order.
  void Commit(std::span<const Event> events, Revision revision);
  void Compact(Revision compacted);

 private:
  class Core;
  const std::shared_ptr<Core> core_;  // Shared with what Add() returned.
};

}  // namespace apiserver::inline v0::storage::kv
