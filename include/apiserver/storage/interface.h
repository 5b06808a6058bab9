#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/meta/options.h"
#include "apiserver/meta/selector.h"
#include "apiserver/meta/watch.h"
#include "apiserver/runtime/object.h"
#include "apiserver/storage/stats.h"

// Typed, versioned access to the objects of one resource: k8s.io/apiserver/pkg/storage.Interface.
// Implemented by storage.store over an engine, and by storage.cacher in front of that.
namespace apiserver::inline v0::storage {

// The objects that a list or a watch selects.
struct SelectionPredicate {
  meta::LabelSelector label;
  meta::FieldSelector field;
  // Returns the value of a selector's `field` for an object. Empty: only metadata.name and
  // metadata.namespace can be selected by. It is called on the thread of the list or, for a watch,
  // on the one that reads the stream: an I/O loop's if that reads it, where the function must not
  // block. Several threads may call it at once.
  std::function<std::string(const runtime::Object&, std::string_view field)> field_value;
  // The version that objects are converted to for `field_value`. Empty: objects are looked at in
  // the version they are in.
  std::string version = "";

  bool empty() const { return label.empty() && field.empty(); }
  // True if a field other than metadata.name and metadata.namespace is selected by; those two are
  // the same in every version.
  bool SelectsContent() const;
  // True if Matches() needs a copy of `object` that is converted to `version`.
  bool WantsConverted(const runtime::Object& object) const {
    return !field.empty() && !version.empty() && object.version() != version && SelectsContent();
  }
  // True if `object`, which is in the right version, has the labels and fields asked for.
  bool Matches(const runtime::Object& object) const;
};
// Returns for each of `objects`, which are of one kind, whether it matches. Objects that must be
// looked at in another version are converted, all in one call if the kind's converter may wait;
// errors are those of runtime::Convert. Labels are read in the version that an object is in.
Result<std::vector<bool>> MatchAll(const Context& ctx, const SelectionPredicate& predicate,
                                   std::span<const runtime::ObjectPtr> objects);

// The options of Interface::Get().
struct GetOptions {
  bool ignore_not_found = false;  // If set, a missing object is null instead of kNotFound.
  std::string resource_version;   // The meaning is that of meta::GetOptions.
};

// The options of Interface::GetList() and Watch().
struct ListOptions {
  // The requested revision. "": a consistent read. "0": any revision will do. Any other value: as
  // `match` says, with the meaning that the Kubernetes API gives to resourceVersion.
  std::string resource_version;
  meta::ResourceVersionMatch match = meta::ResourceVersionMatch::kUnset;
  SelectionPredicate predicate;
  // The largest number of items in one page. Zero: no limit.
  std::int64_t limit = 0;
  // The token of an earlier page. Empty: the list starts at its beginning.
  std::string continue_token;
  bool recursive = true;  // If false, `key` names one object.
  // The two fields that follow concern watches only.
  std::optional<bool> send_initial_events;
  bool allow_bookmarks = false;
  // The time when the caller will end the watch: a last bookmark is sent 2 s before. Absent: the
  // watch has no end.
  std::optional<Clock::Monotonic> deadline;
};

// The options of Interface::GuaranteedUpdate() and Delete().
struct UpdateOptions {
  bool ignore_not_found = false;  // If set, `try_update` is given null instead of kNotFound.
  meta::Preconditions preconditions;
  // The caller's guess of what is stored. It saves a read and is read again when it proves stale.
  // Null: the object is read.
  runtime::ObjectPtr suggestion;
};

// The new content that an update wants stored.
struct Update {
  std::unique_ptr<runtime::Object> object;
  std::optional<std::chrono::seconds> ttl;  // Absent: unchanged. Zero: no expiry.
};
// Makes the new object from `current`, which is null when the key is free and otherwise in the
// version it is stored in. It is called on the thread that called GuaranteedUpdate() and may block.
// A write that lost a race calls it again, so it must have no effects and must not change
// `current`.
using TryUpdate = std::function<Result<Update>(const runtime::ObjectPtr& current)>;
// Refuses a deletion by returning an error. The object is in the version it is stored in. It is
// called on the thread that called Delete() and may block; a delete that lost a race calls it
// again.
using ValidateDeletion = std::function<Status(const Context&, const runtime::Object&)>;

// The stored objects of one resource as a storage has them in memory: bytes that are not encrypted.
struct StoredState {
  // An object as it is stored.
  struct Value {
    std::string key;  // The engine's.
    std::shared_ptr<const std::string> bytes;
    std::int64_t revision = 0;
    std::int64_t lease = 0;
  };
  std::vector<Value> values;  // By key.
  std::int64_t revision = 0;
};

// The typed storage of one resource. Any thread may call its methods. They may wait until `ctx` is
// done (kTimeout); where ctx.may_block() is false they return kWouldBlock instead. Keys are
// relative to the resource's prefix: "/default/one", "/one".
//
// Objects are returned in the version that they are stored in, which may be any of their kind's:
// storage has no hub version. A caller that looks at more than metadata first converts them to the
// version it knows (runtime::Converted; several objects in one call). Objects to be written may be
// in any version, and are converted to the storage version with the call's Context.
//
// Errors have storage's own messages; registry translates them: kNotFound, kAlreadyExists (the key
// is taken), kConflict (precondition or revision), kExpired, kTimeout with cause
// ResourceVersionTooLarge, kBadRequest (continue token, resourceVersion), kInternalError.
class Interface {
 public:
  virtual ~Interface() = default;

  // Stores `object` at a free `key`; returns it as stored, resourceVersion filled in.
  // kInvalid: `object` carries a resourceVersion.
  virtual Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view key,
                                            const runtime::Object& object,
                                            std::chrono::seconds ttl) = 0;
  // Non-blocking variant of Create(): hands the outcome to `done` exactly once, on any thread,
  // perhaps before this returns. `done` must not block and must not call the storage. `object` may
  // change as soon as this has returned.
  using CreateDone = UniqueFunction<void(Result<runtime::ObjectPtr>)>;
  // The default blocks the calling thread in Create(), without expiry.
  virtual void CreateAsync(const Context& ctx, std::string_view key, const runtime::Object& object,
                           CreateDone done) {
    done(Create(ctx, key, object, std::chrono::seconds(0)));
  }
  // Returns the object at `key`. kNotFound: the key is free and ignore_not_found is not set.
  virtual Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view key,
                                         const GetOptions& options) = 0;
  // Non-blocking wait for a consistent read, for storages with AnswersInline(). Calls `done` with a
  // revision once a Get or GetList that may be no older than it is answered from memory and shows
  // all writes acknowledged before this call. `done` is called as CreateAsync()'s is. kWouldBlock:
  // there is nothing to wait for, or waiting needs a thread; read on a thread that may wait. Other
  // errors are those that the read would return.
  using FreshDone = UniqueFunction<void(Result<std::int64_t>)>;
  // The default calls `done` with kWouldBlock.
  virtual void WhenFresh(const Context& /*ctx*/, FreshDone done) {
    done(Status(Reason::kWouldBlock, "the storage can only wait"));
  }
  // Lists the objects below `key`, a prefix ending in '/', or one object if `recursive` is false.
  virtual Result<runtime::List> GetList(const Context& ctx, std::string_view key,
                                        const ListOptions& options) = 0;
  // Reads the object, calls `try_update` and writes its result if nothing changed meanwhile; else
  // starts again. An update that encodes to the bytes already stored is not written and keeps its
  // resourceVersion.
  virtual Result<runtime::ObjectPtr> GuaranteedUpdate(const Context& ctx, std::string_view key,
                                                      const UpdateOptions& options,
                                                      const TryUpdate& try_update) = 0;
  // The outcome of GuaranteedUpdateAsync(): the object as stored. Or, where that is null, `rest`
  // finishes the update when it is called, once, with the request's Context as it is on that
  // thread. Where waiting is not allowed it may return kWouldBlock, and has changed nothing then.
  struct UpdateOutcome {
    runtime::ObjectPtr object;
    UniqueFunction<Result<runtime::ObjectPtr>(const Context&)> rest;
    // True: the object was stored like that already, and nothing was written.
    bool unchanged = false;
  };
  using UpdateDone = UniqueFunction<void(UpdateOutcome)>;
  // Variant of GuaranteedUpdate() that holds no thread while its first write becomes durable. Does
  // all before that write on the calling thread, which may be an event loop if `ctx` says that it
  // must not wait: the outcome is then kWouldBlock for an object that is not known, or is large,
  // and nothing has changed. Hands the outcome to `done` exactly once, on any thread, perhaps
  // before this returns. `done` must not block and must not call the storage. A write that lost a
  // race is tried again in UpdateOutcome::rest, which calls `try_update`; it may be dropped
  // uncalled to give up.
  //
  // The default blocks the calling thread in GuaranteedUpdate().
  virtual void GuaranteedUpdateAsync(const Context& ctx, std::string_view key,
                                     const UpdateOptions& options,
                                     TryUpdate try_update,  // NOLINT: others keep it.
                                     UpdateDone done) {
    auto updated = GuaranteedUpdate(ctx, key, options, try_update);
    if (updated.ok()) return done({*std::move(updated), nullptr});
    done({nullptr, [updated = std::move(updated)](const Context&) { return updated; }});
  }
  // Deletes the object at `key` and returns it with the revision of the delete.
  virtual Result<runtime::ObjectPtr> Delete(const Context& ctx, std::string_view key,
                                            const UpdateOptions& options,
                                            const ValidateDeletion& validate) = 0;
  // Streams the events after resource_version ("" and "0": the state comes first). Errors known at
  // once are returned; later ones, and kExpired, come as an event.
  virtual Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx, std::string_view key,
                                                       const ListOptions& options) = 0;

  // Returns the number of objects below `key`.
  virtual Result<std::size_t> Count(const Context& ctx, std::string_view key) = 0;
  // Returns figures of all objects below the resource's prefix. It is called for each list, so it
  // reads memory without a lock and never waits. The figures are a moment old or, without a watch
  // cache, as old as the last list. nullopt: nothing is known yet.
  virtual std::optional<Stats> GetStats() const { return std::nullopt; }
  // Returns the state in memory, with every write acknowledged before the call, so that another
  // storage of the same objects can begin with it; may wait. nullopt: it is not complete in memory.
  virtual std::optional<StoredState> StateInMemory(const Context& /*ctx*/) const {
    return std::nullopt;
  }
  // Returns a revision not older than any write acknowledged before the call.
  virtual Result<std::int64_t> CurrentResourceVersion(const Context& ctx) = 0;
  // OK once reads and writes can be answered.
  virtual Status Ready() const = 0;
  // True if Get and GetList can be answered from memory, so that calling them on an I/O loop makes
  // sense.
  virtual bool AnswersInline() const = 0;
  // Ends watches and waits for calls. Idempotent.
  virtual void Stop() = 0;
};

// `meta.k8s.io/v1` continue tokens, byte-compatible with Go's. A token with resource_version -1
// continues at the latest revision.
struct ContinueToken {
  std::int64_t resource_version = 0;
  std::string start_key;  // Relative to the list's prefix.
};
// Parses a token. kBadRequest with Go's message: it is malformed.
Result<ContinueToken> DecodeContinueToken(std::string_view token);
// Returns the token in the encoding that Go uses.
std::string EncodeContinueToken(const ContinueToken& token);

}  // namespace apiserver::inline v0::storage
