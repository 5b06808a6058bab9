#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/function.h"
#include "apiserver/base/status.h"

// The interface that a storage backend implements: a key-value store with revisions and a log of
// its changes, without knowledge of Kubernetes. The model is etcd's (etcdserverpb), narrowed to
// what an API server needs.
namespace apiserver::inline v0::storage::kv {

// The number of a write of the whole store. A store that was never written to is at revision 1, as
// etcd's is; every transaction that writes gets the next one, for itself. Zero: none.
using Revision = std::int64_t;
using LeaseId = std::int64_t;  // Zero: none.

// A value's bytes, stored once and shared by the store, its log and the caches above it.
using Bytes = std::shared_ptr<const std::string>;

// A key and its value at one revision.
struct KeyValue {
  std::string key;
  Bytes value;
  Revision create_revision = 0;  // The revision of the write that created the key.
  Revision mod_revision = 0;     // The revision of the write that made this value.
  LeaseId lease = 0;
};

// A read of one key or of a range of keys.
struct RangeRequest {
  std::string key;
  // Empty: only `key`. "\0" (one zero byte): all keys from `key` on. Else all keys in [key, end);
  // see PrefixEnd().
  std::string end;
  std::size_t limit = 0;     // Zero: no limit.
  Revision at_revision = 0;  // Zero: the current state. Else the state as of that revision.
  bool keys_only = false;    // Values are null.
  bool count_only = false;   // `kvs` stays empty.
};

// The keys of a range in one revision.
struct RangeResponse {
  std::vector<KeyValue> kvs;  // Sorted by the bytes of their keys.
  bool more = false;          // The limit cut the answer.
  // The number of keys in the range, regardless of the limit.
  std::size_t count = 0;
  // The revision of the store when it answered, also when `at_revision` was asked for.
  Revision revision = 0;
};

// A read of many keys in pages. Not thread-safe: one reader.
class Pages {
 public:
  virtual ~Pages() = default;
  // Waits for the next page and returns it. All are of the revision of the first, which it tells,
  // with the `count` of all keys. The other pages come in any order. nullopt: there is no more. An
  // error is the last result: those of Engine::Range().
  virtual Result<std::optional<RangeResponse>> Next() = 0;
};

// One conditional write of one key.
struct TxnRequest {
  std::string key;
  // The write happens only if the key's mod revision is this; zero: only if the key does not exist.
  Revision expected_mod_revision = 0;
  // Null: delete the key (expected_mod_revision must not be zero).
  Bytes value;
  // The lease the key belongs to from now on. Zero: no lease, also if it had one before.
  LeaseId lease = 0;
};

// The outcome of a comparison, and of the write if it succeeded.
struct TxnResponse {
  bool succeeded = false;
  // The revision of the write if it succeeded, else of the store when it compared.
  Revision revision = 0;
  // If succeeded: the key's content before the write (mod_revision 0 and null value: none). If not:
  // its current content, likewise.
  KeyValue kv;
};

// One change of one key.
struct Event {
  // As in etcd, a create is a put.
  enum class Type : std::uint8_t { kPut, kDelete };
  Type type = Type::kPut;
  bool is_create = false;  // A put on a key that did not exist.
  // The key's new content. For a delete: the key, with mod_revision = the revision of the delete
  // and null value.
  KeyValue kv;
  // The key's content before; null value if none, or if history no longer has it.
  KeyValue previous;
};

// A piece of the log.
struct EventBatch {
  std::vector<Event> events;  // Sorted by revision. A revision is never split over two batches.
  // Every event of the prefix with a revision <= this has been delivered, in this batch or before.
  Revision complete_up_to = 0;
};

// Reads the log of one prefix from one revision on. Not thread-safe: one reader.
class Tail {
 public:
  // The outcome of one call of Next().
  enum class State : std::uint8_t {
    kEvents,  // `batch` was filled; it may hold only progress (`complete_up_to`).
    kWait,    // Nothing new; `waker` is woken once there is.
    kEnd,  // The log has ended; status() is one of kExpired (compacted; see compacted_revision()),
           // kInternalError, kServiceUnavailable (the engine stopped).
  };
  virtual ~Tail() = default;

  // Fills `batch` with the next events. Never waits. A `waker` is kept until it is used once; a
  // later Next() replaces it. It is woken on any thread.
  virtual State Next(EventBatch& batch, const Waker& waker) = 0;
  // Returns the reason for kEnd; OK before.
  virtual Status status() const = 0;
  // Returns the revision that the log was compacted at, after kEnd with kExpired.
  virtual Revision compacted_revision() const = 0;
};

// The figures of an engine.
struct Stats {
  std::size_t keys = 0;
  std::size_t bytes = 0;          // The bytes of the live keys' values.
  std::size_t history_bytes = 0;  // The bytes of superseded values that are still kept.
  // The bytes of the store's files. Zero: it has none, or they are not known yet.
  std::size_t file_bytes = 0;
};

// Receives the commits that touch the prefix it is registered for: in revision order, one call at a
// time, on the thread that made them durable and before their writers are answered. So a cache that
// observes the engine answers a consistent read from memory. Calls must be quick, must not block
// and must not call the engine.
class Observer {
 public:
  virtual ~Observer() = default;
  // `events` are the commit's events of the prefix, at least one, in revision order; they are valid
  // during the call. After it every event of the prefix up to `revision` has been delivered.
  virtual void OnCommit(std::span<const Event* const> events, Revision revision) = 0;
  // History below `compacted` has gone. Compaction is rare: all observers are called.
  virtual void OnCompact(Revision compacted) { (void)compacted; }
};

// Tells how far the events of one observer have been delivered. Commits that have nothing for an
// observer do not visit it: they move one number that all observations of the engine read. Any
// thread; may outlive the observation, and then stands still.
//
// Why a revision read here can be relied on: the engine makes all OnCommit() calls of a commit,
// then stores its revision in that number (release), then answers the writers, and only then begins
// with the next commit. seen() loads the number (acquire). So a thread that reads a revision also
// sees everything that OnCommit() did for it and for all earlier ones. A commit that misses an
// observer because its observation has ended is not counted: the end writes down the last number
// that holds before the engine can miss the observer, and seen(), which loads the engine's number
// first and that one second, returns the lesser.
class Progress {
 public:
  virtual ~Progress() = default;

  // Every event of the prefix from the observation's begin() up to this revision has been
  // delivered. While the observation exists this is at least the revision of every write that was
  // acknowledged before the call.
  virtual Revision seen() const = 0;

  // Calls `tell` once when the engine has come to `revision`: on the calling thread if it has
  // already, else on the thread of that commit, after its observers and before its writers are
  // answered. Commits before that one do not visit the waiter. `tell` must be quick, must not block
  // and must not call the engine.
  virtual Context::Registration WhenSeen(Revision revision, UniqueFunction<void()> tell) const = 0;
};

// The registration of an observer; its destruction unregisters. After the destructor no call of the
// observer is running or will come: it waits for a call that runs on another thread. So the thread
// that destroys it must not hold a lock that the observer's calls take. Any thread may destroy it,
// also from within a call of an observer; in a call of its own, that call is the last. May outlive
// the engine.
class Observation {
 public:
  virtual ~Observation() = default;
  // The observer receives exactly the events of its prefix after this revision.
  virtual Revision begin() const = 0;
  // Returns the progress; never null.
  virtual std::shared_ptr<const Progress> progress() const = 0;
};

// Every method may be called from any thread. Those with a Context may wait until it is done
// (kTimeout), and answer kWouldBlock where ctx.may_block() is false and they would have to.
// Common errors: kServiceUnavailable: the engine is stopped or cannot be reached.
// kInternalError: the store is damaged or the disk fails; nothing was acknowledged.
class Engine {
 public:
  virtual ~Engine() = default;

  // Returns the word that stands for the kind of engine in metrics: "etcd".
  virtual std::string_view name() const { return "store"; }

  // kExpired: `at_revision` is below the compacted revision. kTimeout with the cause
  // ResourceVersionTooLarge: it lies in the future.
  virtual Result<RangeResponse> Range(const Context& ctx, const RangeRequest& request) = 0;

  // Reads all keys that begin with `prefix`, in pages of the engine's choice; the next ones may be
  // read while the caller works on the last. The engine must outlive what is returned. Null: there
  // is no better way than Range(), page by page.
  virtual std::unique_ptr<Pages> ReadPages(const Context& ctx, std::string_view prefix) {
    (void)ctx, (void)prefix;
    return nullptr;
  }

  // The outcome is durable when this returns, and not readable or observable before it is durable.
  // kRequestEntityTooLarge: the value is over the engine's limit.
  // kNotFound: there is no such lease, or it has ended.
  // kInvalid: the key is empty, or an unconditional delete was asked for.
  // kTimeout: `ctx` was done first; whether the write happens is then unknown.
  virtual Result<TxnResponse> Txn(const Context& ctx, const TxnRequest& request) = 0;

  // Non-blocking variant of Txn(): hands the outcome to `done` exactly once, on any thread, perhaps
  // before this returns. `done` must not block and must not call the engine. Engines that can only
  // wait return kWouldBlock where ctx.may_block() is false.
  virtual void TxnAsync(const Context& ctx, TxnRequest request,  // NOLINT: for engines to keep
                        UniqueFunction<void(Result<TxnResponse>)> done) {
    done(Txn(ctx, request));
  }

  // The log of keys that begin with `prefix`, from revision `from` on (from == 0: from now on).
  // A `from` below what is kept is not an error here: the first Next() is kEnd with kExpired.
  virtual Result<std::unique_ptr<Tail>> NewTail(std::string_view prefix, Revision from) = 0;

  // Asks that every tail soon gets a batch whose complete_up_to is at least the current revision.
  // A no-op for engines whose tails always know.
  virtual Status RequestProgress(const Context& ctx) = 0;

  // Returns a revision that is at least that of every write acknowledged before the call
  // (linearizable).
  virtual Result<Revision> CurrentRevision(const Context& ctx) = 0;
  // Non-blocking variant of CurrentRevision(); `done` is called as TxnAsync()'s is.
  virtual void CurrentRevisionAsync(const Context& ctx,
                                    UniqueFunction<void(Result<Revision>)> done) {
    done(CurrentRevision(ctx));
  }

  // Forgets history below `revision`: afterwards at_revision < revision and tails from < revision
  // are kExpired; the state as of `revision` itself stays readable, values superseded since and the
  // last value of keys deleted since included. kInvalid: `revision` is in the future.
  virtual Status Compact(const Context& ctx, Revision revision) = 0;
  // Returns the largest revision that the store was compacted at.
  virtual Revision CompactedRevision() const = 0;

  // A lease that deletes its keys once `ttl` has passed, each in a transaction of its own, and
  // ends. kInvalid: `ttl` is not positive.
  virtual Result<LeaseId> GrantLease(const Context& ctx, std::chrono::seconds ttl) = 0;

  // Returns the engine's present figures. Does not block.
  virtual Stats GetStats() const = 0;
  // OK when reads and writes can be answered.
  virtual Status Ready() const = 0;

  // Registers `observer`, which must outlive what is returned, for the keys that begin with
  // `prefix` (empty: all keys) from the next commit on. Prefixes may be equal or nested: an event
  // goes to every observer whose prefix its key has. kMethodNotAllowed: the engine cannot be
  // observed, as one on another machine, and is followed by NewTail. Embedded engines support it;
  // kv::Observers does the work.
  virtual Result<std::unique_ptr<Observation>> Observe(std::string_view prefix,
                                                       Observer& observer) = 0;

  // Ends all tails with kServiceUnavailable and waits for running calls. Idempotent.
  virtual void Stop() = 0;
};

// The `end` of the range of all keys that begin with `prefix`; "\0" where no key is above them (the
// prefix is empty or all 0xff), as etcd's.
std::string PrefixEnd(std::string_view prefix);

}  // namespace apiserver::inline v0::storage::kv
