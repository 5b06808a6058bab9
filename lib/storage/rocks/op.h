#pragma once

#include <chrono>
#include <memory>

#include "apiserver/base/function.h"
#include "apiserver/storage/kv/engine.h"
#include "storage/rocks/completion.h"

namespace apiserver::inline v0::storage::rocks {

// An operation for the committer, and its outcome. Shared by the caller and the committer, because
// either may be done with it first.
struct Op {
  enum class Kind : std::uint8_t { kTxn, kGrantLease, kCompact, kExpireLeases };

  explicit Op(Kind k) : kind(k) {}

  const Kind kind;
  kv::TxnRequest txn;
  // The value that the writer has read already, so that the committer need not read it.
  kv::Revision known_revision = 0;
  kv::Bytes known_value;
  std::chrono::seconds ttl{0};
  kv::Revision compact_at = 0;

  // The outcome; the caller reads it after `completion`.
  Status status;
  kv::TxnResponse response;
  kv::LeaseId lease = 0;
  // If set, called on the committer's thread instead of completing. It must not block.
  UniqueFunction<void(Result<kv::TxnResponse>)> done;
  Completion completion;
};
using OpRef = std::shared_ptr<Op>;

}  // namespace apiserver::inline v0::storage::rocks
