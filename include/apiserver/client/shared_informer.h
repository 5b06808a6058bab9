#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/client/informer.h"
#include "apiserver/runtime/names.h"
#include "apiserver/runtime/object.h"

// Informers with many handlers that come and go, and with indexes: k8s.io/client-go/tools/cache's
// SharedIndexInformer, and SharedInformerFactory of k8s.io/client-go/informers.
namespace apiserver::inline v0::client {

// Returns the values under which an index finds `object`, the same each time it is called for it.
// Called under the informer's lock, on its thread and that of AddIndex(): it must not block, nor
// call the informer. cache.IndexFunc.
using IndexFunction = std::function<std::vector<std::string>(const runtime::ObjectPtr& object)>;

// The index that every shared informer has: by namespace. cache.NamespaceIndex.
inline constexpr std::string_view kNamespaceIndex = "namespace";

// Options of a SharedInformer.
struct SharedInformerOptions {
  // The collection to follow, and how. `handlers` are added for as long as the informer lives, with
  // a `resync` of their own below.
  InformerOptions informer;
  // After each such period handlers get on_update(object, object) for all objects of the copy,
  // without a request to the server: to reconcile again what was forgotten, or changed elsewhere.
  // Zero: never, unless AddHandler() says otherwise.
  std::chrono::milliseconds resync = {};
  std::map<std::string, IndexFunction> indexes = {};
};

// A handler's place in a shared informer. It may outlive the informer. Used by one thread at a
// time, except that HasSynced() and WaitForSync() may be called from any.
class HandlerRegistration {
 public:
  virtual ~HandlerRegistration() = default;  // Removes the handler.

  // Removes the handler and waits for its call that is under way, unless the handler itself calls
  // this. It is not called again. Idempotent. The other handlers notice nothing. What the handler
  // holds goes with the registration or the informer, whichever is later.
  virtual void Remove() = 0;
  // True once the handler has been told every object that the collection had at first: when the
  // informer synced, or when the handler was added after that.
  virtual bool HasSynced() const = 0;
  // Waits for that. False: `timeout` passed first.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
};

// An informer with a thread for each handler, so that a slow one delays neither the watch nor the
// other ones, and which handlers can be added to at any time. HasSynced() and WaitForSync() are
// about the copy, not about what the handlers have been told.
//
// A handler is told changes in the order in which they happen, but of each object at most one
// change waits for it: what happens to an object meanwhile is added to that one, from the state
// that the handler was told last to the newest. So a slow handler misses states in between, as
// after a new list, but never the last one, and what waits for it is bounded by the number of
// objects; client-go keeps every change, without a bound. An object deleted and created anew is
// told as a delete and an add; one that has come and gone before its turn is not told.
//
// Handlers may call all methods but Stop(). An exception of one ends the process.
class SharedInformer : public Informer {
 public:
  using Informer::List;

  // Adds a handler, before or after the start; later it gets on_add for all that the copy has, then
  // the changes, none missing and none twice. `resync`: SharedInformerOptions::resync for this
  // handler; nullopt: the informer's. A stopped informer tells nothing. The handler is removed when
  // the result is destroyed. Any thread.
  [[nodiscard]] virtual std::unique_ptr<HandlerRegistration> AddHandler(
      InformerHandler handler, std::optional<std::chrono::milliseconds> resync) = 0;
  [[nodiscard]] std::unique_ptr<HandlerRegistration> AddHandler(InformerHandler handler) {
    return AddHandler(std::move(handler), std::nullopt);
  }

  // Adds an index, also of the objects that are there already. kAlreadyExists: there is one of that
  // name.
  virtual Status AddIndex(std::string name, IndexFunction function) = 0;
  // Returns the objects that the index `name` has under `value`, ordered by namespace and name.
  // kNotFound: there is no such index.
  virtual Result<std::vector<runtime::ObjectPtr>> ByIndex(std::string_view name,
                                                          std::string_view value) const = 0;
  // Returns the values that objects are found under, ordered. kNotFound: there is no such index.
  virtual Result<std::vector<std::string>> IndexValues(std::string_view name) const = 0;
  // Returns the objects of one namespace, ordered by name.
  virtual std::vector<runtime::ObjectPtr> List(std::string_view namespace_) const = 0;
};

// `client` must outlive the informer.
std::unique_ptr<SharedInformer> NewSharedInformer(Client& client, SharedInformerOptions options);

// The informers of a program, one for each resource however many ask for it. Any thread, except
// that Start() and Stop() belong to the owner.
class SharedInformers {
 public:
  virtual ~SharedInformers() = default;  // Stops.

  // Returns the informer of a resource, made by the first call: it lives as long as this object.
  virtual SharedInformer& For(const runtime::GroupVersionResource& resource) = 0;
  // Starts the informers that have not been started. Call it again after more of For().
  virtual void Start() = 0;
  // Waits until all that have been started have synced. False: `timeout` passed first.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
  // Stops all informers. Idempotent; not to be called by a handler.
  virtual void Stop() = 0;
};

// Makes informers with `options`, but the resource: those of a namespace if the target has one.
// `client` must outlive the result.
std::unique_ptr<SharedInformers> NewSharedInformers(Client& client,
                                                    SharedInformerOptions options = {});

}  // namespace apiserver::inline v0::client
