#include <utility>

#include "apiserver/codec/codec.h"
#include "base/status_macros.h"
#include "storage/errors.h"
#include "storage/in_span.h"
#include "storage/list_options.h"
#include "storage/store/object_store.h"
#include "storage/store/stored_value.h"

namespace apiserver::v0::storage::store {

namespace {

// The bytes that an update adds to an object that it changes a little, such as an entry of an
// owner.
constexpr std::size_t kGrowth = 512;
// A smaller object is parsed faster than one is fetched that another thread has made.
constexpr std::size_t kKeptBytesMin = 4 << 10;

// A larger object takes an event loop too long: an update parses and writes it.
constexpr std::size_t kBytesOnLoop = 32 << 10;

Status MayWorkHere(const Context& ctx, const std::string& stored) {
  if (ctx.may_block() || stored.size() <= kBytesOnLoop) return {};
  return {Reason::kWouldBlock, "the object is large"};
}

// Returns an object for one update. One that is still bytes is cloned: the shared one would stay
// parsed for as long as it is kept.
runtime::ObjectPtr ForUpdate(runtime::ObjectPtr shared) {
  return shared->loaded() ? std::move(shared) : shared->Clone();
}

}  // namespace

Result<ObjectStore::State> ObjectStore::StateOf(const std::string& key,
                                                const kv::KeyValue& kv) const {
  State state;
  state.current = true;
  state.lease = kv.lease;
  // A free key is a valid state: an update may create it.
  if (kv.value == nullptr) return state;
  ASSIGN_OR_RETURN(Opened opened, Open(options_, key, kv.value));
  ASSIGN_OR_RETURN(runtime::ObjectPtr object, DecodePlain(key, opened.plain, kv.mod_revision));
  state.object = ForUpdate(std::move(object));
  state.bytes = std::move(opened.plain);
  state.stale = opened.stale;
  state.revision = kv.mod_revision;
  return state;
}

Result<ObjectStore::State> ObjectStore::ReadState(const Context& ctx,
                                                  const std::string& key) const {
  kv::RangeRequest request;
  request.key = key;
  ASSIGN_OR_RETURN(const kv::RangeResponse response, Range(ctx, request));
  return StateOf(key, response.kvs.empty() ? kv::KeyValue() : response.kvs.front());
}

ObjectStore::State ObjectStore::KnownState(const std::string& key, Memory::Known known) const {
  if (runtime::ObjectPtr kept = written_.Find(key, known.revision)) {
    known.object = std::move(kept);
  } else if (!unwritten_.Has(known.revision)) {
    known.object = ForUpdate(std::move(known.object));
  }
  return {
      std::move(known.object), std::move(known.bytes), false, known.revision, known.lease, false};
}

Result<ObjectStore::State> ObjectStore::FirstState(const Context& ctx, const std::string& key,
                                                   const UpdateOptions& options) const {
  if (auto known = memory_ != nullptr ? memory_->Find(key) : std::nullopt) {
    RETURN_IF_ERROR(MayWorkHere(ctx, *known->bytes));
    return KnownState(key, *std::move(known));
  }
  if (options.suggestion == nullptr) return ReadState(ctx, key);
  ASSIGN_OR_RETURN(const std::int64_t revision,
                   ParseReadVersion(options.suggestion->resource_version()));
  ASSIGN_OR_RETURN(codec::StorageEncoding encoded,
                   codec::EncodeForStorage(ctx, *options.suggestion));
  return State{options.suggestion, std::move(encoded.bytes), false, revision, std::nullopt, false};
}

Result<ObjectStore::State> ObjectStore::Refetch(const Context& ctx, const std::string& key,
                                                const State& believed, const Status& refusal) {
  unwritten_.Note(believed.revision);
  // A refusal counts only if it is about the stored state: what memory or the caller believed may
  // be out of date, so the engine is asked once.
  if (believed.current) return refusal;
  ASSIGN_OR_RETURN(State state, ReadState(ctx, key));
  if (state.revision == believed.revision) return refusal;
  return state;
}

Result<kv::LeaseId> ObjectStore::LeaseFor(const Context& ctx, const State& state,
                                          const Update& update) {
  if (!update.ttl) return state.lease.value_or(0);
  if (update.ttl->count() <= 0) return kv::LeaseId{0};
  return leases_.Get(ctx, *update.ttl);
}

runtime::ObjectPtr ObjectStore::Unchanged(const std::string& key, const State& state) {
  unwritten_.Note(state.revision);
  // The shared object may have its answer already.
  if (runtime::ObjectPtr shared = Remembered(key, state.revision)) return shared;
  return state.object;
}

Result<ObjectStore::Attempt> ObjectStore::ChangeOf(const Context& ctx, const std::string& key,
                                                   const State& state, const Update& update) {
  // Most updates change little.
  const std::size_t before = state.bytes != nullptr ? state.bytes->size() : 0;
  const codec::StorageWishes wishes{.bytes = before > 0 ? before + kGrowth : 0,
                                    .content = written_.keeps() && before >= kKeptBytesMin};
  ASSIGN_OR_RETURN(codec::StorageEncoding encoded,
                   codec::EncodeForStorage(ctx, *update.object, wishes));
  // An update that changes nothing is found by its encoding: the engine's bytes differ each time
  // they are encrypted.
  const bool same = state.bytes != nullptr && *encoded.bytes == *state.bytes;
  if ((same || (!state.lease && !update.ttl)) && !state.current) {
    // Only the stored state can show that a write is superfluous, or which lease to keep.
    ASSIGN_OR_RETURN(State now, ReadState(ctx, key));
    // Equal bytes show that the update changes nothing: Go does not repeat it either.
    const bool shown = same && now.bytes != nullptr && *encoded.bytes == *now.bytes && !now.stale;
    if (shown) return Attempt{.unchanged = Unchanged(key, now)};
    return Attempt{.again = std::move(now)};
  }
  if (same && !state.stale) return Attempt{.unchanged = Unchanged(key, state)};

  Change change{.before = state.revision};
  change.txn.key = key;
  change.txn.expected_mod_revision = state.revision;
  ASSIGN_OR_RETURN(change.txn.value, Close(options_, key, encoded.bytes));
  ASSIGN_OR_RETURN(change.txn.lease, LeaseFor(ctx, state, update));
  change.encoded = std::move(encoded);
  return Attempt{.change = std::move(change)};
}

Result<runtime::ObjectPtr> ObjectStore::Changed(const std::string& key, Change change,
                                                kv::Revision revision) {
  codec::StorageEncoding& encoded = change.encoded;
  if (encoded.content) {
    // It keeps the text that its strings are in.
    const std::size_t bytes = encoded.content->arena().bytes_reserved() + encoded.bytes->size();
    written_.Keep(key, {change.before, revision},
                  codec::ReadBack(std::move(encoded.content), revision), bytes);
  }
  return Stored(key, encoded, revision);
}

Result<runtime::ObjectPtr> ObjectStore::GuaranteedUpdate(const Context& ctx, std::string_view key,
                                                         const UpdateOptions& options,
                                                         const TryUpdate& try_update) {
  const auto update = [&](const Context& traced) -> Result<runtime::ObjectPtr> {
    UpdateCall call{.options = options, .try_update = try_update};
    ASSIGN_OR_RETURN(call.key, PrepareKey(options_.prefix, key, false));
    ASSIGN_OR_RETURN(State state, FirstState(traced, call.key, options));
    return UpdateUntilDone(traced, call, std::move(state));
  };
  return InSpan(ctx, "GuaranteedUpdate store", {*options_.kind, key}, update);
}

// Follows GuaranteedUpdate in etcd3/store.go: it begins with a state that may be old, and believes
// an error about it only after it has read the stored one.
Result<ObjectStore::Attempt> ObjectStore::NextChange(const Context& ctx, const UpdateCall& call,
                                                     State state) {
  const UpdateOptions& options = call.options;
  for (;;) {
    RETURN_IF_ERROR(ctx.Err(*options_.clock));
    if (state.object == nullptr && !options.ignore_not_found) return NewKeyNotFound(call.key);
    const Status unmet = CheckPreconditions(call.key, options.preconditions, state.object.get());
    if (!unmet.ok()) {
      ASSIGN_OR_RETURN(state, Refetch(ctx, call.key, state, unmet));
      continue;
    }
    auto update = call.try_update(state.object);
    if (!update.ok()) {
      ASSIGN_OR_RETURN(state, Refetch(ctx, call.key, state, update.status()));
      continue;
    }
    ASSIGN_OR_RETURN(Attempt attempt, ChangeOf(ctx, call.key, state, *update));
    if (!attempt.again) return attempt;
    state = std::move(*attempt.again);
  }
}

Result<runtime::ObjectPtr> ObjectStore::UpdateUntilDone(const Context& ctx, const UpdateCall& call,
                                                        State state) {
  for (;;) {
    ASSIGN_OR_RETURN(Attempt attempt, NextChange(ctx, call, std::move(state)));
    if (!attempt.change) return std::move(attempt.unchanged);
    ASSIGN_OR_RETURN(const kv::TxnResponse response, Txn(ctx, attempt.change->txn, Call::kUpdate));
    if (response.succeeded) {
      return Changed(call.key, *std::move(attempt.change), response.revision);
    }
    // The engine returns the state that won the race, which saves a read before the next attempt.
    ASSIGN_OR_RETURN(state, StateOf(call.key, response.kv));
  }
}

Status ObjectStore::TryDelete(const Context& ctx, const std::string& key,
                              const UpdateOptions& options, const ValidateDeletion& validate,
                              const State& state) const {
  if (state.object == nullptr) return NewKeyNotFound(key);
  RETURN_IF_ERROR(CheckPreconditions(key, options.preconditions, state.object.get()));
  return validate ? validate(ctx, *state.object) : Status();
}

Result<runtime::ObjectPtr> ObjectStore::Delete(const Context& ctx, std::string_view key,
                                               const UpdateOptions& options,
                                               const ValidateDeletion& validate) {
  return InSpan(ctx, "Delete store", {*options_.kind, key}, [&](const Context& traced) {
    return DeleteUntilDone(traced, key, options, validate);
  });
}

Result<runtime::ObjectPtr> ObjectStore::DeleteUntilDone(const Context& ctx, std::string_view key,
                                                        const UpdateOptions& options,
                                                        const ValidateDeletion& validate) {
  ASSIGN_OR_RETURN(const std::string prepared, PrepareKey(options_.prefix, key, false));
  ASSIGN_OR_RETURN(State state, FirstState(ctx, prepared, options));
  for (;;) {
    RETURN_IF_ERROR(ctx.Err(*options_.clock));
    const Status refusal = TryDelete(ctx, prepared, options, validate, state);
    if (!refusal.ok()) {
      ASSIGN_OR_RETURN(state, Refetch(ctx, prepared, state, refusal));
      continue;
    }
    kv::TxnRequest txn;
    txn.key = prepared;
    txn.expected_mod_revision = state.revision;
    ASSIGN_OR_RETURN(const kv::TxnResponse response, Txn(ctx, txn, Call::kDelete));
    if (response.succeeded) {
      // The object that was validated is the one deleted; it need not be decrypted once more.
      const kv::Bytes& plain = options_.transformer ? state.bytes : response.kv.value;
      return codec::DecodeFromStorage(options_.kind, plain, response.revision);
    }
    ASSIGN_OR_RETURN(state, StateOf(prepared, response.kv));
  }
}

}  // namespace apiserver::v0::storage::store
