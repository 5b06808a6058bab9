#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/object.h"

// Serves objects that live outside of the library's storage: a table of the host's, files, another
// system. The author writes five blocking functions over that data (Source); the rest of a resource
// (validation, pages, watches, dry run, ...) is the generic Store's. Go has no counterpart; what
// clients see is what registry.Store shows them.
namespace apiserver::inline v0::registry {

// Reports to the store that the source's data changed other than by a call of the store. All
// methods may be called from any thread, also inside the Source's own functions, and do nothing
// once the store is gone.
class SourceChanges {
 public:
  virtual ~SourceChanges() = default;

  // Reports that an object appeared, changed or disappeared; `space` is empty for kinds of cluster
  // scope. Returns at once. The store soon calls Source::Get for it and serves what that returns.
  // Reports about one object that come faster than they are read are read as one.
  virtual void Changed(std::string_view space, std::string_view name) = 0;
  // Reports that anything may have changed. The store soon calls Source::List.
  virtual void ChangedAll() = 0;
  // Blocks until everything reported before this call has been read and watches can see it. Must
  // not be called inside the Source's functions. Returns the first error of the reads, which are
  // then tried again later, or kTimeout when `ctx` is done.
  virtual Status Wait(const Context& ctx) = 0;
};

// The host's data behind a store: five functions that the author implements.
//
// Threads: all functions run on threads that may wait, several at a time, but never two at a time
// for one object. List runs beside any of them. They should end when their Context is done.
//
// Objects: of the store's kind, in its hub version, settled. The names (and namespaces) that List
// and Get return must be valid. The source may keep whole objects or only their content: a member
// of `metadata` that a read object lacks keeps the value that the store knows (for labels,
// annotations and finalizers too: an empty map or list removes them); an object the store has not
// seen yet gets a uid and a creationTimestamp. What the source does not keep itself is lost when
// the process ends. resourceVersion is the store's and is never the source's to give.
//
// Errors reach the client: kNotFound, kAlreadyExists and kConflict become the API errors of those
// names for the object; others are returned as they are, kInternalError with the prefix "Internal
// error occurred: ". Exceptions are kInternalError. After an error of a write the store reads the
// object again with Get, so that a write which took place in spite of its error is not missed.
class Source {
 public:
  using Objects = std::vector<std::unique_ptr<runtime::Object>>;

  virtual ~Source() = default;

  // Called once, before any other function, inside NewSourceStore. A source whose data changes by
  // itself keeps `changes`.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): an override moves it.
  virtual void Start(std::shared_ptr<SourceChanges> /*changes*/) {}

  // Returns all existing objects of all namespaces, in any order.
  virtual Result<Objects> List(const Context& ctx) = 0;
  // Returns one object. kNotFound, or null: there is none.
  virtual Result<std::unique_ptr<runtime::Object>> Get(const Context& ctx, std::string_view space,
                                                       std::string_view name) = 0;

  // Stores a new object. It has passed validation and admission; name, namespace, uid and
  // creationTimestamp are set. The source may change `object`, but not its name or namespace: what
  // is left in it when the function returns is what clients see. Not called for dry runs.
  // kAlreadyExists: the source has an object of that name which the store did not know.
  //
  // The default refuses: 405.
  virtual Status Create(const Context& ctx, runtime::Object& object);
  // Replaces `old`, which is what the store last knew; preconditions have been checked against it.
  // `object` as for Create; its uid must stay. Called for updates, patches, applies and updates of
  // subresources, and when a delete only marks the object (deletionTimestamp) because it has
  // finalizers or a grace period. Not called when nothing changes. kConflict: the source has moved
  // on and will not overwrite.
  //
  // The default refuses: 405.
  virtual Status Update(const Context& ctx, const runtime::Object& old, runtime::Object& object);
  // Removes `old`. Its finalizers are gone. kNotFound counts as success.
  //
  // The default refuses: 405.
  virtual Status Delete(const Context& ctx, const runtime::Object& old);
};

// The options of a store over a Source.
struct SourceOptions {
  // The options of the generic Store: kind and strategy are required. `ttl` must be null: only the
  // source ends the life of an object.
  StoreOptions store;
  // The time between the end of one Source::List and the next. Zero: it is called once, and after
  // ChangedAll().
  std::chrono::milliseconds relist_interval{0};
  // The time after which a failed List or Get is tried again. Must be positive.
  std::chrono::milliseconds retry_interval = std::chrono::seconds(1);
  // The history that can be watched and listed at least. Requests for older revisions get 410
  // unless the watch cache still has them. Zero: no limit.
  std::size_t history_events_max = 100'000;
  std::chrono::seconds history_window = std::chrono::minutes(5);
};

// Makes a store whose objects are those of `source`. Of `config` the executor is required (waiting
// must be allowed there: GenericAPIServer::pool()); engine, prefix, transformer_for and watch_cache
// are not used.
//
// The store keeps a copy of all objects in memory. Reads and watches are answered from the copy and
// never call the source; a write calls the source first and the copy then shows it. Until the first
// List has succeeded every request is answered with 429 and the store is not ready.
//
// resourceVersions begin with the time of the start in microseconds, so that those of a process
// that was started anew are newer than all before; what its predecessor gave out is too old (410).
//
// The store is a registry::Store: NewStatusStore and NewScaleStore work over it. Destroy() cancels
// the Context of reads in progress, waits for the source's running functions and destroys the
// source; it must not be called inside one of them. kInvalid: a required option is missing, an
// option cannot be used, or NewStore() would refuse a path of the kind.
Result<std::shared_ptr<Store>> NewSourceStore(const StorageConfig& config, SourceOptions options,
                                              std::unique_ptr<Source> source);

}  // namespace apiserver::inline v0::registry
