#pragma once

#include <cstddef>
#include <string_view>

#include "apiserver/storage/kv/engine.h"
#include "storage/index/btree.h"
#include "storage/index/event_log.h"
#include "storage/index/ref.h"
#include "storage/kv/key_range.h"

namespace apiserver::inline v0::storage::memory {

// A key at one revision, shared by the trees, their snapshots and the log.
struct Version : index::RefCounted {
  explicit Version(kv::KeyValue key_value) : kv(std::move(key_value)) {}

  const kv::KeyValue kv;  // A null value: the key was deleted here.

  bool deleted() const { return kv.value == nullptr; }
  std::size_t bytes() const { return deleted() ? 0 : kv.value->size(); }
};
using VersionRef = index::Ref<const Version>;

struct LiveKeyOf {
  std::string_view operator()(const VersionRef& version) const { return version->kv.key; }
};
// Orders the versions of a key from new to old.
struct VersionKey {
  std::string_view key;
  kv::Revision revision = 0;

  friend bool operator<(const VersionKey& a, const VersionKey& b) {
    const int order = a.key.compare(b.key);
    return order != 0 ? order < 0 : a.revision > b.revision;
  }
};
struct VersionKeyOf {
  VersionKey operator()(const VersionRef& version) const {
    return {version->kv.key, version->kv.mod_revision};
  }
};

// The keys that exist now.
using LiveTree = index::BTree<VersionRef, LiveKeyOf>;
// Every version that history still has, deletions too.
using HistoryTree = index::BTree<VersionRef, VersionKeyOf>;

// One write: the key's version since, and the one before (null: none).
struct Change {
  VersionRef now;
  VersionRef before;
};
struct ChangeAccess {
  static kv::Revision Revision(const Change& change) { return change.now->kv.mod_revision; }
  static std::string_view Key(const Change& change) { return change.now->kv.key; }
};
using ChangeLog = index::EventLog<Change, ChangeAccess>;

kv::Event EventOf(const Change& change);

// Fill `response` except for its revision.
void ReadLive(const LiveTree& live, const kv::RangeRequest& request, kv::RangeResponse& response);
// Reads the state as of request.at_revision, which history must reach.
void ReadHistory(const HistoryTree& history, const kv::RangeRequest& request,
                 kv::RangeResponse& response);

}  // namespace apiserver::inline v0::storage::memory
