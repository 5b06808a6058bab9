#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "apiserver/meta/options.h"
#include "apiserver/meta/table.h"
#include "apiserver/meta/watch.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/object.h"
#include "apiserver/storage/stats.h"

// The capabilities of a resource, one small interface each: k8s.io/apiserver/pkg/registry/rest,
// rest.go. A resource implements Storage and the capabilities it has; the installer asks once
// (Capabilities::Of) and serves the verbs it found. docs/storage.md compares the ways to write one,
// and testing/storage/rest_conformance.h judges one.
//
// Threads: methods are plain blocking calls on threads of the pool. They may wait until the Context
// is done and are called by several threads at once. Called on a loop, where nothing may wait, are:
// NamespaceScoped, the names and versions of a resource, StatsProvider, InlineReader, InlineWriter,
// and the methods that these two allow there.
//
// Errors are API errors (meta/errors.h). They reach the client as they are.
//
// Requests: the Context carries the namespace of the request (NamespaceOf). Authentication,
// authorization, decoding, conversion and mutating admission are done when a method is called, with
// two exceptions: those of an update run inside UpdatedObject, and all admission of a delete inside
// `validate`. The caller has not read the stored object.
//
// Responsibilities in a write, with the generic Store (registry/store.h) as the example:
//
//   field or step              create                        update
//   name from generateName     Create                        -
//   metadata.namespace         the handler, or Create        the handler
//   uid, creationTimestamp     Create                        Update keeps the stored ones
//   resourceVersion            Create; refused if given      Update; a stale one is 409
//   deletionTimestamp          cleared by the handler        Update keeps the stored one
//   managedFields              the handler                   UpdatedObject
//   validation                 Create                        Update
//   `validate`                 Create, last before storing   Update, last before storing
//
// rest/create.h, rest/update.h, rest/delete.h and rest/meta.h have these steps as functions.
//
// Versions: objects that methods are given are in the kind's hub version. Objects that they return,
// and those in watches, may be in any version of the kind: the server converts them to the version
// that the client asked for. A caller that looks at more than metadata first converts them itself
// (runtime::Converted).
namespace apiserver::inline v0::rest {

// The namespace of a request, a value of its Context; unit tests set it themselves. Empty: cluster
// scope, or all namespaces.
struct Namespace {
  std::string value;
};
// Returns the namespace of the request; empty if its Context has none.
std::string_view NamespaceOf(const Context& ctx);

// The capability that every resource has. rest.Storage.
class Storage {
 public:
  virtual ~Storage() = default;
  // Returns an empty object of the kind that request bodies of the resource hold.
  virtual std::unique_ptr<runtime::Object> New() const = 0;
  // Releases what the storage holds: watches end, timers stop. Called when the server stops or no
  // longer serves the resource, after its last request, on a thread that may wait. Must be
  // idempotent.
  virtual void Destroy() {}
};

// Says whether the objects have namespaces; it decides the paths of a resource. rest.Scoper.
class Scoper {
 public:
  virtual ~Scoper() = default;
  // Must always return the same.
  virtual bool NamespaceScoped() const = 0;
};

// The singular name in discovery: "flunder". rest.SingularNameProvider.
class SingularNameProvider {
 public:
  virtual ~SingularNameProvider() = default;
  virtual std::string GetSingularName() const = 0;
};

// The short names in discovery: "po" for pods. rest.ShortNamesProvider.
class ShortNamesProvider {
 public:
  virtual ~ShortNamesProvider() = default;
  virtual std::vector<std::string> ShortNames() const = 0;
};

// The categories in discovery: "all", for `kubectl get all`. rest.CategoriesProvider.
class CategoriesProvider {
 public:
  virtual ~CategoriesProvider() = default;
  virtual std::vector<std::string> Categories() const = 0;
};

// Overrides the group, version and kind of a subresource's bodies: autoscaling/v1 Scale.
// rest.GroupVersionKindProvider.
class GroupVersionKindProvider {
 public:
  virtual ~GroupVersionKindProvider() = default;
  virtual runtime::GroupVersionKind GetGroupVersionKind(
      const runtime::GroupVersion& containing) const = 0;
};

// Accepts request bodies of further group versions. rest.GroupVersionAcceptor.
class GroupVersionAcceptor {
 public:
  virtual ~GroupVersionAcceptor() = default;
  virtual bool AcceptsGroupVersion(const runtime::GroupVersion& gv) const = 0;
};

// The group, version and kind that objects are stored in, for the storage version hash in
// discovery. rest.StorageVersionProvider.
class StorageVersionProvider {
 public:
  virtual ~StorageVersionProvider() = default;
  virtual runtime::GroupVersionKind StorageVersion() const = 0;
};

// Makes the table that `kubectl get` prints. rest.TableConvertor. Called on the pool, unless its
// storage is an InlineReader that answers inline.
class TableConvertor {
 public:
  virtual ~TableConvertor() = default;
  // Returns a row for each of `items`, in their order, and the columns even if there are no items.
  // The items are of one kind, in any version. An item may be backed by bytes alone: looking into
  // it keeps it parsed, looking into a Clone() does not.
  virtual Result<meta::Table> ConvertToTable(const Context& ctx,
                                             const std::vector<runtime::ObjectPtr>& items,
                                             const meta::TableOptions& options) const = 0;
};

// Serves GET of one object. rest.Getter.
class Getter {
 public:
  virtual ~Getter() = default;
  // Returns the object `name` of the request's namespace, with its resourceVersion, never null.
  // options.resource_version "": the latest acknowledged state; "0": any state; else a state that
  // is not older.
  //
  // kNotFound (meta::NewNotFound): there is none. kBadRequest: the resourceVersion is no number.
  // kTimeout with the cause ResourceVersionTooLarge: the state asked for has not come within a few
  // seconds (3 in the generic Store). On a loop, where the storage is an InlineReader, kWouldBlock:
  // the call would have to wait.
  virtual Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view name,
                                         const meta::GetOptions& options) = 0;
};

// A Getter that takes options of its own from the query, and maybe a subpath. Asked instead of
// Getter if a storage is both. rest.GetterWithOptions.
class GetterWithOptions {
 public:
  virtual ~GetterWithOptions() = default;
  // `query` is the decoded query, unchecked: what the storage does not know it ignores, and a bad
  // value is kBadRequest. `subpath` follows the resource's path, "/a/b"; empty unless
  // TakesSubpath(). The result and other errors as Getter::Get.
  virtual Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view name,
                                         const meta::QueryValues& query,
                                         std::string_view subpath) = 0;
  virtual bool TakesSubpath() const { return false; }
};

// Serves GET of a collection. rest.Lister.
class Lister : public TableConvertor {
 public:
  // Returns the objects of the request's namespace, or of all namespaces if that is empty, in the
  // order of namespace and name. The list has a resourceVersion above zero, which no item's
  // exceeds: a watch from it misses nothing.
  //
  // The storage applies options.label_selector and field_selector (metadata.name and
  // metadata.namespace at least); the server filters nothing. resource_version "": the latest
  // acknowledged state; "0": any state; else by resource_version_match: kExact that state,
  // kNotOlderThan or unset a state that is not older (with a limit, unset means exact). With a
  // `limit` a list that holds more ends with a continue_token, and remaining_item_count if nothing
  // is selected; a list with that token goes on in the state of the first page. The handler has
  // checked combinations of options that upstream refuses, and decoded selectors.
  //
  // kBadRequest: a bad resourceVersion or continue token, or both given. kTimeout: as Getter::Get.
  // kExpired (410): the state asked for is forgotten; for a token the Status carries another one
  // (Status::continue_token) that goes on in the latest state. kTooManyRequests: not ready yet. On
  // a loop kWouldBlock, as Getter::Get.
  virtual Result<runtime::List> List(const Context& ctx, const meta::ListOptions& options) = 0;
};

// Serves watches. rest.Watcher.
class Watcher {
 public:
  virtual ~Watcher() = default;
  // Returns a stream of the changes after options.resource_version that match the selectors; see
  // watch::Stream for its threads. An object that comes to match is ADDED, one that no longer does
  // is DELETED with its last matching state. Each event carries the resourceVersion of its change,
  // a DELETED one that of the deletion; they ascend.
  //
  // resource_version "0", or "" without send_initial_events: the state as ADDED events first, then
  // changes. send_initial_events true: the state, no older than resource_version ("": than the
  // latest acknowledged one), then a bookmark with initial_events_end if allow_watch_bookmarks;
  // false: changes from now on. The handler has set the defaults that upstream sets for watches.
  // Bookmarks only if allow_watch_bookmarks; one comes before `deadline`, which is when the server
  // ends the watch.
  //
  // Errors known at once are returned: kInvalid or kBadRequest: a bad resourceVersion.
  // A resourceVersion that is forgotten is kExpired, returned or as an ERROR event, which the
  // client sees in both cases as one that ends the watch.
  virtual Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx,
                                                       const meta::ListOptions& options,
                                                       Clock::Monotonic deadline) = 0;
};

// Validating admission, handed to a write by the handler; may be empty. The storage calls it with
// the object as it is about to be stored, after its own validation, for dry runs too, and returns
// its error unchanged: the write is refused then. It may wait and is called on the thread of the
// write, without locks held: a webhook may call this server. Called again when a write is tried
// again. rest.ValidateObjectFunc and ValidateObjectUpdateFunc.
using ValidateObject = std::function<Status(const Context&, const runtime::Object&)>;
using ValidateObjectUpdate = std::function<Status(const Context&, const runtime::Object& object,
                                                  const runtime::Object& old)>;

// Serves POST of a collection. rest.Creater.
class Creater {
 public:
  virtual ~Creater() = default;
  // Stores `object` as a new one and returns it as stored, with its resourceVersion. A storage that
  // stores nothing of its own, such as bindings, may return null: the answer is a Success Status.
  //
  // The handler has cleared uid, creationTimestamp, deletionTimestamp and
  // deletionGracePeriodSeconds, set or compared metadata.namespace, tracked field owners and run
  // mutating admission. Create sets the uid and the creationTimestamp
  // (rest::FillObjectMetaSystemFields), makes a name if there is only a generateName
  // (rest::GenerateName; the generic Store tries up to eight names), prepares and validates the
  // object (rest::BeforeCreate: strategy, schema, warnings) and calls `validate`, in this order.
  // options.dry_run: all of it, also the check that the name is free, but nothing is stored; the
  // result has no resourceVersion. Other options concern the handler.
  //
  // kAlreadyExists: the name is taken; the stored object stays. kInvalid (422): validation.
  // kBadRequest: the namespace is not the request's. An object with a resourceVersion is refused.
  virtual Result<runtime::ObjectPtr> Create(const Context& ctx,
                                            std::unique_ptr<runtime::Object> object,
                                            const ValidateObject& validate,
                                            const meta::CreateOptions& options) = 0;
};

// Creates without holding a thread while the write becomes durable. The handler prefers it to
// Creater, except for bodies over 256 KiB. The generic Store has it; others need not. Go has no
// counterpart.
class AsyncCreater {
 public:
  // The object as stored; or, where it is null, `error` says why when it is called, once, where
  // waiting is allowed and with a Context that says so.
  struct Outcome {
    runtime::ObjectPtr object;
    UniqueFunction<Status(const Context&)> error;
  };
  using Done = UniqueFunction<void(Outcome)>;

  virtual ~AsyncCreater() = default;
  // As Creater::Create up to the write, on the calling thread, which may wait. `done` is called
  // once, on any thread, perhaps before this returns, and must not wait.
  virtual void CreateAsync(const Context& ctx, std::unique_ptr<runtime::Object> object,
                           const ValidateObject& validate, const meta::CreateOptions& options,
                           Done done) = 0;
};

// A Creater that is told the name in the URL, for a POST to a subresource: pods/binding. Asked
// instead of Creater if a storage is both. rest.NamedCreater.
class NamedCreater {
 public:
  virtual ~NamedCreater() = default;
  // `name` is that of the main resource's object; `object` need not have one. Else as
  // Creater::Create.
  virtual Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view name,
                                            std::unique_ptr<runtime::Object> object,
                                            const ValidateObject& validate,
                                            const meta::CreateOptions& options) = 0;
};

// Keeps metadata.uid of the bodies of a NamedCreater, which otherwise are cleared: a TokenRequest
// has that of its service account. rest.SubresourceObjectMetaPreserver.
class SubresourceObjectMetaPreserver {
 public:
  virtual ~SubresourceObjectMetaPreserver() = default;
  // Must always return the same. Asked for a subresource alone.
  virtual bool PreserveRequestObjectMetaSystemFieldsOnSubresourceCreate() const = 0;
};

// Makes the new object from the old one: the body of a PUT, or the old object patched.
// rest.UpdatedObjectInfo. Called on the thread of the update, without locks held; may wait.
class UpdatedObjectInfo {
 public:
  virtual ~UpdatedObjectInfo() = default;
  // Returns the preconditions on the stored object, such as the uid in a PUT. Not met: kConflict.
  virtual meta::Preconditions GetPreconditions() const { return {}; }
  // Returns the new object in the hub version. `old` is the stored object, in the hub version;
  // null: there is none. Called once for each try of a write, again whenever the stored object has
  // changed meanwhile. Runs field ownership and mutating admission. An error ends the update with
  // it.
  virtual Result<std::unique_ptr<runtime::Object>> UpdatedObject(
      const Context& ctx, const runtime::ObjectPtr& old) const = 0;
};

// The input of Updater::Update.
struct UpdateRequest {
  const UpdatedObjectInfo& info;
  // Validates an update that creates; also authorizes the create.
  const ValidateObject& validate_create;
  const ValidateObjectUpdate& validate_update;
  // Creates an absent object whatever the strategy says: server-side apply.
  bool force_allow_create = false;
  meta::UpdateOptions options;
};
// The outcome of Updater::Update; `created`: the response is 201.
struct UpdateResult {
  runtime::ObjectPtr object;
  bool created = false;
};

// Serves PUT and, together with Getter, PATCH and apply: the handler hands every kind of patch to
// Update as an UpdatedObjectInfo. rest.Updater and rest.Patcher.
class Updater {
 public:
  virtual ~Updater() = default;
  // Replaces the object `name` by what request.info makes of it, and returns it as stored. In this
  // order: read the stored object, check the preconditions, call UpdatedObject, compare
  // resourceVersions, prepare and validate (rest::BeforeUpdate, which also restores uid and
  // timestamps), call validate_update, store. If the stored object changes in between, all of it
  // is done again. An update that changes nothing is no write and keeps the resourceVersion. One
  // that takes the last finalizer off an object that is being deleted removes it. dry_run: all of
  // it but the storing.
  //
  // kNotFound: there is none, and neither the strategy (AllowCreateOnUpdate) nor force_allow_create
  // lets it be created; else it is created as by Creater::Create, with validate_create, and
  // UpdateResult::created is true (201). kConflict: a stale resourceVersion, or a precondition.
  // kInvalid (422): validation, or no resourceVersion where one is required.
  virtual Result<UpdateResult> Update(const Context& ctx, std::string_view name,
                                      const UpdateRequest& request) = 0;
};

// Updates without holding a thread while the write becomes durable. The handlers of PUT and PATCH
// prefer it to Updater. The generic Store has it; others need not. Go has no counterpart.
class AsyncUpdater {
 public:
  // The result. Or, where its object is null, `rest` finishes the update when it is called, once,
  // with the request's Context as it is on that thread; it may be dropped uncalled to give up.
  // Where waiting is not allowed it may return kWouldBlock, and has changed nothing then.
  struct UpdateOutcome {
    UpdateResult result;
    UniqueFunction<Result<UpdateResult>(const Context&)> rest;
  };
  using UpdateDone = UniqueFunction<void(UpdateOutcome)>;

  virtual ~AsyncUpdater() = default;
  // As Updater::Update up to the first write, on the calling thread, which may wait. `done` is
  // called once, on any thread, perhaps before this returns, and must not wait. `name` and what
  // `request` refers to must live until then and, if there is `rest`, until that was called or
  // dropped.
  virtual void UpdateAsync(const Context& ctx, std::string_view name, const UpdateRequest& request,
                           UpdateDone done) = 0;
};

// The outcome of a delete.
struct DeleteResult {
  // The object as it is now, or as it was last. Null: the answer is a Success Status made of
  // `details`, or of the request if they are empty.
  runtime::ObjectPtr object;
  StatusDetails details;
  // False: the object is only marked. The answer is 202 then if dependents go first.
  bool deleted_immediately = false;
};

// Serves DELETE of one object. rest.GracefulDeleter.
class GracefulDeleter {
 public:
  virtual ~GracefulDeleter() = default;
  // Removes the object `name`, or marks it (deletionTimestamp, deletionGracePeriodSeconds) if it
  // has finalizers or its strategy grants grace (rest::BeforeDelete). `validate` is the whole
  // admission of a delete; it is called with the stored object, and again if that changes. dry_run:
  // checks and `validate` only.
  //
  // kNotFound: there is none. kConflict: options.preconditions (uid, resourceVersion) do not hold.
  // Deleting an object that is already marked succeeds and changes nothing.
  virtual Result<DeleteResult> Delete(const Context& ctx, std::string_view name,
                                      const ValidateObject& validate,
                                      const meta::DeleteOptions& options) = 0;
};

// Tells OpenAPI that a delete answers with the object rather than with a Status.
// rest.MayReturnFullObjectDeleter.
class MayReturnFullObjectDeleter {
 public:
  virtual ~MayReturnFullObjectDeleter() = default;
  virtual bool DeleteReturnsDeletedObject() const = 0;
};

// Serves DELETE of a collection. rest.CollectionDeleter.
class CollectionDeleter {
 public:
  virtual ~CollectionDeleter() = default;
  // Deletes each object that a list with `list_options` finds, as GracefulDeleter::Delete would
  // with the same `options` and `validate`, and returns them. Not atomic: the first error ends it,
  // and what was deleted before stays deleted. An object that disappears meanwhile is no error. A
  // limit in `list_options` deletes one page.
  virtual Result<runtime::List> DeleteCollection(const Context& ctx, const ValidateObject& validate,
                                                 const meta::DeleteOptions& options,
                                                 const meta::ListOptions& list_options) = 0;
  // False: it is not served after all. Asked once, when the resource is installed.
  virtual bool DeletesCollections() const { return true; }
};

// A value of the exchange whose handler reads the body itself. See Connecter::StreamsBody.
struct StreamedBody {};

// A request to a Connecter. Valid during the call.
struct ConnectRequest {
  // The name of the main resource's object, which the storage looks up itself.
  std::string_view name;
  const meta::QueryValues& query;  // Decoded.
  // The path after the subresource: "/a/b". Empty unless Connecter::TakesSubpath().
  std::string_view subpath;
  // The result of NewConnectOptions() as admission has left it. May be null.
  const runtime::Object* options = nullptr;
};

// Answers requests to a subresource itself: proxy, exec, port-forward. rest.Connecter. The user
// needs the verb of the method ("get", "create") on the subresource, and admission must allow it
// (Operation::kConnect). The answer may take any time: no deadline of the server ends it; when the
// server stops, the exchange's Context is cancelled. A request with dryRun is refused (400).
//
// Connect() returns a handler like any other: it answers plainly (writer().Send), streams
// (writer().Stream), opens a WebSocket (http::AcceptWebSocket) or takes the raw connection
// (writer().Upgrade). It runs on the pool, once, and may wait.
class Connecter {
 public:
  virtual ~Connecter() = default;
  // The HTTP methods that are served: "GET", "POST", …
  virtual std::vector<std::string> ConnectMethods() const = 0;
  virtual bool TakesSubpath() const { return false; }
  // True: a GET that begins a WebSocket needs the verb "create" too, as upstream's exec, attach
  // and port-forward do: it can do what a POST can. False: "get" is enough, as for upstream's
  // proxies.
  virtual bool WebSocketNeedsCreate() const { return true; }
  // True: the body of a request is not collected, so that it may be of any length; the handler
  // reads it with http::Exchange::OpenBody. False: it is the exchange's body() when Connect is
  // called.
  virtual bool StreamsBody() const { return false; }
  // Makes the options that the query gives, of a kind of their own: PodExecOptions. Admission is
  // given them as the object of its request, and plugins may change them. Called before Connect, on
  // its thread, with the same arguments. Null: admission is given no object. An error is the
  // answer. rest.Connecter.NewConnectOptions.
  virtual Result<std::unique_ptr<runtime::Object>> NewConnectOptions(const meta::QueryValues& query,
                                                                     std::string_view subpath);
  // Returns the handler of one request. On the pool; may wait. An error is the answer. kNotFound:
  // there is no object of that name.
  virtual Result<http::Handler> Connect(const Context& ctx, const ConnectRequest& request) = 0;
};

// Serves GET with bytes instead of an object: logs. They are sent as they come, for as long as it
// takes, also over a WebSocket if the client asks for one. Asked before Getter.
// rest.ResourceStreamer.
class ResourceStreamer {
 public:
  virtual ~ResourceStreamer() = default;
  // An answer: its body and the media type of that.
  struct Input {
    // Null: 204, no content. Destroyed when the client goes.
    std::unique_ptr<http::BodySource> body;
    std::string media_type;  // Empty: application/octet-stream.
  };
  // Opens the bytes of the object `name`; `query` is the decoded query. On the pool; may wait.
  // kNotFound: there is no such object.
  virtual Result<Input> InputStream(const Context& ctx, std::string_view name,
                                    const meta::QueryValues& query) = 0;
  // Receives what InputStream() returns. Called once, on any thread; must not block.
  using Opened = UniqueFunction<void(Result<Input>)>;
  // Opens the bytes without a thread that waits for them, for those that come from another server:
  // called instead of InputStream(), on the pool, where it may wait for the storage alone. Once
  // `ctx` is cancelled, `opened` may be dropped uncalled. The default calls InputStream().
  virtual void InputStreamLater(const Context& ctx, std::string_view name,
                                const meta::QueryValues& query, Opened opened) {
    opened(InputStream(ctx, name, query));
  }
};

// Promises that Get, List, Watch and ConvertToTable answer from memory without host code that may
// wait. They are then called on a loop, where they return kWouldBlock in the rare case that they
// would have to wait, and watches are pulled there. For other storages everything runs on the pool.
// Go has no counterpart.
class InlineReader {
 public:
  virtual ~InlineReader() = default;
  // False: this storage is read on the pool all the same. Asked for each read; must be quick.
  virtual bool AnswersInline() const = 0;
  // Non-blocking wait for a consistent read: calls `done` with the resourceVersion that a read with
  // kNotOlderThan may ask for instead, on the loop as well. Calls it once, on any thread, perhaps
  // before this returns; `done` must be quick and must not call the storage. kWouldBlock: the read
  // must be made where waiting is allowed. Other errors are those of the read.
  using FreshDone = UniqueFunction<void(Result<std::string>)>;
  virtual void WhenFresh(const Context& ctx, FreshDone done);
};

// Lets small writes begin on an event loop, where AsyncCreater and AsyncUpdater are then called:
// they return kWouldBlock in the rare case that they would have to wait before the write, and have
// changed nothing then. For other storages all writes begin on the pool. Go has no counterpart.
class InlineWriter {
 public:
  virtual ~InlineWriter() = default;
  // False: writes begin on the pool all the same. Asked for each write; must be quick.
  virtual bool WritesInline() const = 0;
};

// The fields that the storage's strategy resets; managed fields leave them out.
// rest.ResetFieldsStrategy.
class ResetFieldsProvider {
 public:
  virtual ~ResetFieldsProvider() = default;
  virtual ResetFields GetResetFields() const = 0;
};

// A part of the server's readiness. rest.StorageWithReadiness.
class StorageWithReadiness {
 public:
  virtual ~StorageWithReadiness() = default;
  // Returns OK once the storage can serve. Called by the health check "storage", which has five
  // seconds for all storages, on the pool.
  virtual Status ReadinessCheck() const = 0;
};

// The number and size of the stored objects. Flow control weighs lists by it; without it each list
// takes one seat.
class StatsProvider {
 public:
  virtual ~StatsProvider() = default;
  // Called for each list, on a loop: must be quick and must not wait. nullopt: not known now.
  virtual std::optional<storage::Stats> GetStats() const = 0;
};

// The capabilities of one Storage: pointers into it, null for those it lacks.
struct Capabilities {
  Scoper* scoper = nullptr;
  SingularNameProvider* singular_name = nullptr;
  ShortNamesProvider* short_names = nullptr;
  CategoriesProvider* categories = nullptr;
  GroupVersionKindProvider* gvk = nullptr;
  GroupVersionAcceptor* gv_acceptor = nullptr;
  StorageVersionProvider* storage_version = nullptr;
  TableConvertor* table_convertor = nullptr;
  Getter* getter = nullptr;
  GetterWithOptions* getter_with_options = nullptr;
  Lister* lister = nullptr;
  Watcher* watcher = nullptr;
  AsyncCreater* async_creater = nullptr;
  Creater* creater = nullptr;
  NamedCreater* named_creater = nullptr;
  SubresourceObjectMetaPreserver* meta_preserver = nullptr;
  AsyncUpdater* async_updater = nullptr;
  Updater* updater = nullptr;
  GracefulDeleter* graceful_deleter = nullptr;
  MayReturnFullObjectDeleter* full_object_deleter = nullptr;
  CollectionDeleter* collection_deleter = nullptr;
  Connecter* connecter = nullptr;
  ResourceStreamer* streamer = nullptr;
  InlineReader* inline_reader = nullptr;
  InlineWriter* inline_writer = nullptr;
  StorageWithReadiness* readiness = nullptr;
  StatsProvider* stats = nullptr;
  ResetFieldsProvider* reset_fields = nullptr;

  // The only dynamic_casts of the project.
  static Capabilities Of(Storage& storage);
};

}  // namespace apiserver::inline v0::rest
