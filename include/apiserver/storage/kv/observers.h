#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::storage::kv {

// The observers of an embedded engine. An engine's author uses it to implement Engine::Observe().
// Any thread may call Add() and empty(). Looking up the observers of a key takes O(log n) steps
// among n prefixes, and one for each observer found; prefixes that are nested beside the key's own
// add one for each level.
class Observers final {
 public:
  Observers();
  // May be destroyed before the registrations that Add() returned.
  ~Observers();

  // Registers `observer` for commits after `begin`, the revision that readers see now. Call it
  // under the lock in which the engine shows a commit to readers: so every commit either is in
  // `begin` or finds the observer.
  std::unique_ptr<Observation> Add(std::string_view prefix, Observer& observer, Revision begin);

  // True if there is no observer: Commit() then needs no events. Call it after the commit was shown
  // to readers.
  bool empty() const;

  // Delivers a commit that is durable and shown to readers, before its writers are answered.
  // `events` are all of the commit, in revision order. Only one call of this and Compact() runs at
  // a time, in revision order.
  void Commit(std::span<const Event> events, Revision revision);
  // Tells every observer that history below `compacted` has gone.
  void Compact(Revision compacted);

 private:
  class Core;
  const std::shared_ptr<Core> core_;  // Shared with what Add() returned.
};

}  // namespace apiserver::inline v0::storage::kv
