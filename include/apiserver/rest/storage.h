#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "apiserver/meta/options.h"
#include "apiserver/meta/table.h"
#include "apiserver/meta/watch.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/object.h"
#include "apiserver/storage/stats.h"

// What a resource can do, one small interface per capability: k8s.io/apiserver/pkg/registry/rest.
// A resource implements Storage and whatever else it can; the installer asks once
// (Capabilities::Of) and serves the verbs it found.
//
// Methods are plain blocking calls, on threads of the pool, where they may wait, and several at
// once. On a loop, where nothing may wait, are called: NamespaceScoped, the names and versions a
// resource has, StatsProvider, InlineReader, and what an InlineReader allows. Errors are API errors
// (meta/errors.h): they reach the client as they are.
//
// Objects that methods are given are in the kind's hub version. Those that they return, and watches
// carry, may be in any of its versions: the server converts them to what a client asked for, and
// the generic Store returns them as they are stored. Whoever calls a storage itself and looks at
// more than metadata first turns them into the version that it knows (runtime::Converted).
namespace apiserver::inline v0::rest {

// The namespace a request is about, in its Context; unit tests set it themselves. Empty: cluster
// scope or all namespaces.
struct Namespace {
  std::string value;
};
std::string_view NamespaceOf(const Context& ctx);

class Storage {
 public:
  virtual ~Storage() = default;
  // An empty object of what the resource's bodies hold.
  virtual std::unique_ptr<runtime::Object> New() const = 0;
  // Called when the server stops or serves nothing from it any more, on a thread that may wait;
  // idempotent.
  virtual void Destroy() {}
};

class Scoper {
 public:
  virtual ~Scoper() = default;
  virtual bool NamespaceScoped() const = 0;
};

class SingularNameProvider {
 public:
  virtual ~SingularNameProvider() = default;
  virtual std::string GetSingularName() const = 0;
};

class ShortNamesProvider {
 public:
  virtual ~ShortNamesProvider() = default;
  virtual std::vector<std::string> ShortNames() const = 0;
};

class CategoriesProvider {
 public:
  virtual ~CategoriesProvider() = default;
  virtual std::vector<std::string> Categories() const = 0;
};

// Overrides the group, version and kind a subresource's bodies have: autoscaling/v1 Scale.
class GroupVersionKindProvider {
 public:
  virtual ~GroupVersionKindProvider() = default;
  virtual runtime::GroupVersionKind GetGroupVersionKind(
      const runtime::GroupVersion& containing) const = 0;
};

// Accepts request bodies of further group versions.
class GroupVersionAcceptor {
 public:
  virtual ~GroupVersionAcceptor() = default;
  virtual bool AcceptsGroupVersion(const runtime::GroupVersion& gv) const = 0;
};

class StorageVersionProvider {
 public:
  virtual ~StorageVersionProvider() = default;
  virtual runtime::GroupVersionKind StorageVersion() const = 0;
};

// On the pool, unless its storage is an InlineReader that answers inline.
class TableConvertor {
 public:
  virtual ~TableConvertor() = default;
  // `items` of one kind, in any version. Columns always; rows in the order of `items`. Items may be
  // backed by bytes alone: whoever looks into one keeps it parsed, and into a Clone() does not.
  virtual Result<meta::Table> ConvertToTable(const Context& ctx,
                                             const std::vector<runtime::ObjectPtr>& items,
                                             const meta::TableOptions& options) const = 0;
};

class Getter {
 public:
  virtual ~Getter() = default;
  virtual Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view name,
                                         const meta::GetOptions& options) = 0;
};

// A Getter that takes options of its own from the query, and maybe a subpath.
class GetterWithOptions {
 public:
  virtual ~GetterWithOptions() = default;
  // `subpath` is what follows the resource's path, "/a/b"; empty unless TakesSubpath().
  virtual Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view name,
                                         const meta::QueryValues& query,
                                         std::string_view subpath) = 0;
  virtual bool TakesSubpath() const { return false; }
};

class Lister : public TableConvertor {
 public:
  virtual Result<runtime::List> List(const Context& ctx, const meta::ListOptions& options) = 0;
};

class Watcher {
 public:
  virtual ~Watcher() = default;
  // `deadline` is when the server will end the watch: bookmarks are sent before it.
  virtual Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx,
                                                       const meta::ListOptions& options,
                                                       Clock::Monotonic deadline) = 0;
};

// Called with the object as it is about to be stored; an error refuses the write. Admission: may
// wait, so it is called on the thread of the write.
using ValidateObject = std::function<Status(const Context&, const runtime::Object&)>;
using ValidateObjectUpdate = std::function<Status(const Context&, const runtime::Object& object,
                                                  const runtime::Object& old)>;

class Creater {
 public:
  virtual ~Creater() = default;
  virtual Result<runtime::ObjectPtr> Create(const Context& ctx,
                                            std::unique_ptr<runtime::Object> object,
                                            const ValidateObject& validate,
                                            const meta::CreateOptions& options) = 0;
};

// Creates without holding a thread while the write becomes durable; asked before Creater. The
// generic Store has it; others need not.
class AsyncCreater {
 public:
  // The object as stored; or, where it is null, `error` says why when it is called, once and where
  // waiting is allowed.
  struct Outcome {
    runtime::ObjectPtr object;
    UniqueFunction<Status()> error;
  };
  using Done = UniqueFunction<void(Outcome)>;

  virtual ~AsyncCreater() = default;
  // As Creater::Create up to the write, on the calling thread, which may wait. `done` is called
  // once, on any thread, perhaps before this returns, and must not wait.
  virtual void CreateAsync(const Context& ctx, std::unique_ptr<runtime::Object> object,
                           const ValidateObject& validate, const meta::CreateOptions& options,
                           Done done) = 0;
};

// A Creater that is told the name in the URL: pods/binding.
class NamedCreater {
 public:
  virtual ~NamedCreater() = default;
  virtual Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view name,
                                            std::unique_ptr<runtime::Object> object,
                                            const ValidateObject& validate,
                                            const meta::CreateOptions& options) = 0;
};

// Makes the new object from the old one; asked again whenever the old one has changed meanwhile. On
// the thread of the update; may wait.
class UpdatedObjectInfo {
 public:
  virtual ~UpdatedObjectInfo() = default;
  virtual meta::Preconditions GetPreconditions() const { return {}; }
  // `old` is null when nothing is stored.
  virtual Result<std::unique_ptr<runtime::Object>> UpdatedObject(
      const Context& ctx, const runtime::ObjectPtr& old) const = 0;
};

struct UpdateRequest {
  const UpdatedObjectInfo& info;
  const ValidateObject& validate_create;
  const ValidateObjectUpdate& validate_update;
  bool force_allow_create = false;
  meta::UpdateOptions options;
};
struct UpdateResult {
  runtime::ObjectPtr object;
  bool created = false;
};

class Updater {
 public:
  virtual ~Updater() = default;
  virtual Result<UpdateResult> Update(const Context& ctx, std::string_view name,
                                      const UpdateRequest& request) = 0;
};

struct DeleteResult {
  // The object as it is now, or as it was last; null: answer with a Success Status made of
  // `details`, or of the request if they are empty.
  runtime::ObjectPtr object;
  StatusDetails details;
  bool deleted_immediately = false;
};

class GracefulDeleter {
 public:
  virtual ~GracefulDeleter() = default;
  virtual Result<DeleteResult> Delete(const Context& ctx, std::string_view name,
                                      const ValidateObject& validate,
                                      const meta::DeleteOptions& options) = 0;
};

// Only for OpenAPI: a delete answers with the object rather than with a Status.
class MayReturnFullObjectDeleter {
 public:
  virtual ~MayReturnFullObjectDeleter() = default;
  virtual bool DeleteReturnsDeletedObject() const = 0;
};

class CollectionDeleter {
 public:
  virtual ~CollectionDeleter() = default;
  virtual Result<runtime::List> DeleteCollection(const Context& ctx, const ValidateObject& validate,
                                                 const meta::DeleteOptions& options,
                                                 const meta::ListOptions& list_options) = 0;
};

// The value of an exchange whose handler reads the body itself. See Connecter::StreamsBody.
struct StreamedBody {};

// Answers any method on a subresource itself: proxy, exec, log streams. Whoever may do what the
// method stands for ("get", "create", …) on the subresource may connect, if admission lets it
// (Operation::kConnect). The answer may take as long as it likes: no deadline of the server ends
// it; when the server stops, the exchange's Context is cancelled.
//
// What Connect() returns is a handler like any other: it answers plainly (writer().Send), streams
// (writer().Stream), opens a WebSocket (http::AcceptWebSocket) or takes the raw connection
// (writer().Upgrade). It runs on the pool, once, and may wait.
class Connecter {
 public:
  virtual ~Connecter() = default;
  // "GET", "POST", …
  virtual std::vector<std::string> ConnectMethods() const = 0;
  virtual bool TakesSubpath() const { return false; }
  // Whether a GET that begins a WebSocket needs the verb "create" too, as upstream's exec, attach
  // and port-forward do: it can do what a POST can. False: "get" is enough, as for upstream's
  // proxies.
  virtual bool WebSocketNeedsCreate() const { return true; }
  // True: the body of a request is not collected, so that it may be of any length; the handler
  // reads it with http::Exchange::OpenBody. False: it is the exchange's body() when Connect is
  // called.
  virtual bool StreamsBody() const { return false; }
  // `subpath` is what follows the subresource, "/a/b"; empty unless TakesSubpath().
  virtual Result<http::Handler> Connect(const Context& ctx, std::string_view name,
                                        const meta::QueryValues& query,
                                        std::string_view subpath) = 0;
};

// A result that is bytes rather than an object: logs. Sent as they come, for as long as it takes;
// also over a WebSocket, if the client asks for one.
class ResourceStreamer {
 public:
  virtual ~ResourceStreamer() = default;
  struct Input {
    // Null: 204, no content. Destroyed when the client goes.
    std::unique_ptr<http::BodySource> body;
    std::string media_type;  // Empty: application/octet-stream.
  };
  virtual Result<Input> InputStream(const Context& ctx, std::string_view name,
                                    const meta::QueryValues& query) = 0;
};

// Get, List, Watch and ConvertToTable answer from memory, with no host code on the way that may
// wait: they are called on a loop, where they return kWouldBlock in the rare case that they would
// have to wait, and watches are pulled there. Of a storage that is none, or does not answer inline,
// everything runs on the pool.
class InlineReader {
 public:
  virtual ~InlineReader() = default;
  virtual bool AnswersInline() const = 0;
  // For a consistent read that would have to wait: hands `done` the resourceVersion that a read
  // with kNotOlderThan may then ask for instead, on the loop as well. Once, on any thread, perhaps
  // before this returns; `done` must be quick and must not call the storage. kWouldBlock: read
  // where you may wait. Other errors are the read's.
  using FreshDone = UniqueFunction<void(Result<std::string>)>;
  virtual void WhenFresh(const Context& ctx, FreshDone done);
};

// Says what its strategy resets; Go's rest.ResetFieldsStrategy.
class ResetFieldsProvider {
 public:
  virtual ~ResetFieldsProvider() = default;
  virtual ResetFields GetResetFields() const = 0;
};

class StorageWithReadiness {
 public:
  virtual ~StorageWithReadiness() = default;
  // Runs in the health check "storage", which has five seconds for all storages.
  virtual Status ReadinessCheck() const = 0;
};

// Knows how much it has stored. Flow control weighs lists by it: without, each takes one seat.
class StatsProvider {
 public:
  virtual ~StatsProvider() = default;
  // Asked for each list, on a loop: must be quick and must not wait. nullopt: not known now.
  virtual std::optional<storage::Stats> GetStats() const = 0;
};

// What a Storage turned out to be able to do; pointers into it, null where it cannot.
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
  Updater* updater = nullptr;
  GracefulDeleter* graceful_deleter = nullptr;
  MayReturnFullObjectDeleter* full_object_deleter = nullptr;
  CollectionDeleter* collection_deleter = nullptr;
  Connecter* connecter = nullptr;
  ResourceStreamer* streamer = nullptr;
  InlineReader* inline_reader = nullptr;
  StorageWithReadiness* readiness = nullptr;
  StatsProvider* stats = nullptr;
  ResetFieldsProvider* reset_fields = nullptr;

  // The only dynamic_casts of the project.
  static Capabilities Of(Storage& storage);
};

}  // namespace apiserver::inline v0::rest
