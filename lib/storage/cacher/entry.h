#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/runtime/object.h"
#include "apiserver/storage/kv/engine.h"
#include "storage/index/btree.h"
#include "storage/index/event_log.h"
#include "storage/index/keyed.h"
#include "storage/index/ref.h"

// The entries and changes that a cache is made of.
namespace apiserver::inline v0::storage::cacher {

// An object under its key at one revision, shared by trees, log and readers.
struct Entry final : index::Keyed<Entry> {
  kv::Bytes bytes;  // The encoding, decrypted.
  kv::Revision revision = 0;
  kv::LeaseId lease = 0;
  runtime::ObjectPtr object;  // Never null.
  Status unusable;  // The reason why the value cannot be used; `object` is empty then. OK: it can.
};
using EntryRef = index::Ref<const Entry>;

struct KeyOfEntry {
  std::string_view operator()(const EntryRef& entry) const { return entry->key(); }
};
using Tree = index::BTree<EntryRef, KeyOfEntry>;

// One change, made once for all watches.
struct Change : index::RefCounted {
  kv::Revision revision = 0;
  std::string version;  // The revision as text.
  EntryRef now;         // Null: the object was deleted.
  EntryRef before;      // Null: the object was created.

  std::string_view key() const { return now ? now->key() : before->key(); }
};
using ChangeRef = index::Ref<const Change>;

struct ChangeAccess {
  static std::int64_t Revision(const ChangeRef& change) { return change->revision; }
  static std::string_view Key(const ChangeRef& change) { return change->key(); }
};
using ChangeLog = index::EventLog<ChangeRef, ChangeAccess>;

}  // namespace apiserver::inline v0::storage::cacher
