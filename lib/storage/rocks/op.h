#pragma once

#include <chrono>
#include <memory>

#include "apiserver/base/function.h"
#include "apiserver/storage/kv/engine.h"
#include "storage/rocks/completion.h"

namespace apiserver::inline v0::storage::rocks {

// One thing the committer is asked to do, and its outcome. Shared by the one who asked and the
// committer, because either may be done with it first.
struct Op {
  enum class Kind : std::uint8_t { kTxn, kGrantLease, kCompact, kExpireLeases };

  explicit Op(Kind k) : kind(k) {}

  const Kind kind;
  kv::TxnRequest txn;
  // What the writer already knows the key to hold, so that the committer need not read it.
  kv::Revision known_revision = 0;
  kv::Bytes known_value;
  std::chrono::seconds ttl{0};
  kv::Revision compact_at = 0;

  // The outcome; the asker reads it after `completion`.
  Status status;
  kv::TxnResponse response;
  kv::LeaseId lease = 0;
  // If set, called instead of completing.
  UniqueFunction<void(Result<kv::TxnResponse>)> done;
  Completion completion;
};
using OpRef = std::shared_ptr<Op>;

}  // namespace apiserver::inline v0::storage::rocks
