#pragma once

#include <atomic>

#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::storage::etcd {

// The revisions that the engine has seen in etcd's answers. Thread-safe; they only grow.
class Known {
 public:
  // At least the revision of every write that this engine has acknowledged.
  kv::Revision revision() const { return revision_.load(); }
  kv::Revision compacted() const { return compacted_.load(); }
  void SawRevision(kv::Revision revision) { Raise(revision_, revision); }
  void SawCompaction(kv::Revision revision) { Raise(compacted_, revision); }

 private:
  static void Raise(std::atomic<kv::Revision>& place, kv::Revision to) {
    kv::Revision now = place.load();
    while (now < to && !place.compare_exchange_weak(now, to)) {
    }
  }
  std::atomic<kv::Revision> revision_ = 0;
  std::atomic<kv::Revision> compacted_ = 0;
};

}  // namespace apiserver::inline v0::storage::etcd
