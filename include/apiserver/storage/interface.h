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

// Which objects a list or watch is about.
struct SelectionPredicate {
  meta::LabelSelector label;
  meta::FieldSelector field;
  // The value of a field selector's field for an object; empty function: metadata.name and
  // metadata.namespace only.
  std::function<std::string(const runtime::Object&, std::string_view field)> field_value;
  // The version in which `field_value` looks at objects; empty: in any.
  std::string version = "";

  bool empty() const { return label.empty() && field.empty(); }
  // True if it selects by another field than metadata.name and metadata.namespace, which are the
  // same in every version.
  bool SelectsContent() const;
  // True if Matches() needs a copy of `object` that is converted to `version`.
  bool WantsConverted(const runtime::Object& object) const {
    return !field.empty() && !version.empty() && object.version() != version && SelectsContent();
  }
  bool Matches(const runtime::Object& object) const;
};
// Says of each of `objects`, which are of one kind, if it matches. Those that must be looked at in
// another version are converted, all in one call if the kind's converter may wait; errors as
// runtime::Convert. Labels are those of the version that an object is in.
Result<std::vector<bool>> MatchAll(const Context& ctx, const SelectionPredicate& predicate,
                                   std::span<const runtime::ObjectPtr> objects);

struct GetOptions {
  bool ignore_not_found = false;  // Null instead of kNotFound.
  std::string resource_version;   // As meta::GetOptions.
};

struct ListOptions {
  // "": consistent. "0": any. Else by match: see behaviour of GET with resourceVersion in
  // k8s.io/apiserver.
  std::string resource_version;
  meta::ResourceVersionMatch match = meta::ResourceVersionMatch::kUnset;
  SelectionPredicate predicate;
  std::int64_t limit = 0;
  std::string continue_token;
  bool recursive = true;  // False: `key` names one object.
  // Watches only.
  std::optional<bool> send_initial_events;
  bool allow_bookmarks = false;
  // When the watch will be ended by its caller: a last bookmark is sent 2 s before.
  std::optional<Clock::Monotonic> deadline;
};

struct UpdateOptions {
  bool ignore_not_found = false;  // `try_update` is given null instead of kNotFound.
  meta::Preconditions preconditions;
  // What the caller believes is stored; saves a read and is refetched when it proves stale.
  runtime::ObjectPtr suggestion;
};

// What an update wants stored.
struct Update {
  std::unique_ptr<runtime::Object> object;
  std::optional<std::chrono::seconds> ttl;  // Absent: as before; zero: none.
};
// `current` is null when the key is free, else in the version it is stored in. May be called
// several times; must not keep `current` mutable or have effects.
using TryUpdate = std::function<Result<Update>(const runtime::ObjectPtr& current)>;
// Refuses a deletion by returning an error. The object is in the version it is stored in.
using ValidateDeletion = std::function<Status(const Context&, const runtime::Object&)>;

// All methods from any thread. Methods may wait until `ctx` is done (kTimeout); where
// ctx.may_block() is false they return kWouldBlock instead. Keys are relative to the resource's
// prefix: "/default/one", "/one".
//
// Objects are handed out in the version that they are stored in, which may be any of their kind's:
// storage knows no hub. Whoever looks at more than metadata first turns them into the version that
// it knows (runtime::Converted; of several objects in one call). Objects to be written may be in
// any version, and are converted to the storage version with the call's Context.
//
// Errors carry storage's own words; registry translates them: kNotFound, kAlreadyExists (the key
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
  // As Create for whoever has no thread to wait on: hands the outcome to `done` instead, once, on
  // any thread, perhaps before this returns. `done` must be quick and must not call the storage.
  // `object` may change as soon as this has returned.
  using CreateDone = UniqueFunction<void(Result<runtime::ObjectPtr>)>;
  virtual void CreateAsync(const Context& ctx, std::string_view key, const runtime::Object& object,
                           CreateDone done) {
    done(Create(ctx, key, object, std::chrono::seconds(0)));
  }
  virtual Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view key,
                                         const GetOptions& options) = 0;
  // For whoever has no thread to wait on, of what AnswersInline(): hands the revision to `done`,
  // once a Get or GetList that may be no older than it is answered from memory and shows all that
  // was acknowledged before this call. `done` as CreateAsync()'s. kWouldBlock: there is nothing to
  // wait for, or not without a thread; read where you may wait. Other errors are what the read
  // would say.
  using FreshDone = UniqueFunction<void(Result<std::int64_t>)>;
  virtual void WhenFresh(const Context& /*ctx*/, FreshDone done) {
    done(Status(Reason::kWouldBlock, "the storage can only wait"));
  }
  // `key` is a prefix ending in '/', or with recursive == false one object's key.
  virtual Result<runtime::List> GetList(const Context& ctx, std::string_view key,
                                        const ListOptions& options) = 0;
  // Reads, asks `try_update`, writes if nothing changed meanwhile, else starts again. What encodes
  // to the bytes already stored is not written and keeps its resourceVersion.
  virtual Result<runtime::ObjectPtr> GuaranteedUpdate(const Context& ctx, std::string_view key,
                                                      const UpdateOptions& options,
                                                      const TryUpdate& try_update) = 0;
  // Returns the deleted object, carrying the revision of the delete.
  virtual Result<runtime::ObjectPtr> Delete(const Context& ctx, std::string_view key,
                                            const UpdateOptions& options,
                                            const ValidateDeletion& validate) = 0;
  // Events after resource_version ("" and "0": state first). Errors known at once are returned;
  // later ones, and kExpired, come as an event.
  virtual Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx, std::string_view key,
                                                       const ListOptions& options) = 0;

  virtual Result<std::size_t> Count(const Context& ctx, std::string_view key) = 0;
  // What is known of all objects below the resource's prefix; asked for each list, so it reads
  // memory without a lock and never waits. A moment or, without a watch cache, a list old. nullopt:
  // nothing is known yet.
  virtual std::optional<Stats> GetStats() const { return std::nullopt; }
  virtual Result<std::int64_t> CurrentResourceVersion(const Context& ctx) = 0;
  virtual Status Ready() const = 0;
  // Whether Get and GetList can be answered from memory, so that asking on a loop makes sense.
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
// kBadRequest with Go's words.
Result<ContinueToken> DecodeContinueToken(std::string_view token);
std::string EncodeContinueToken(const ContinueToken& token);

}  // namespace apiserver::inline v0::storage
