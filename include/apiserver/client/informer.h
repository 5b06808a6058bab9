#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/log.h"
#include "apiserver/base/random.h"
#include "apiserver/client/client.h"
#include "apiserver/meta/selector.h"
#include "apiserver/runtime/object.h"

// A local copy of a collection that follows the server: k8s.io/client-go/tools/cache, reflector and
// informer in one.
namespace apiserver::inline v0::client {

// Functions that are told about changes. Called on the informer's thread, in order, without a lock
// held; they may block, but the informer does not follow the server meanwhile. Null: not called.
struct InformerHandler {
  std::function<void(const runtime::ObjectPtr& object)> on_add = nullptr;
  std::function<void(const runtime::ObjectPtr& before, const runtime::ObjectPtr& now)> on_update =
      nullptr;
  // Gets the last state that was seen, which need not be the last that existed.
  std::function<void(const runtime::ObjectPtr& object)> on_delete = nullptr;
};

// Options of an Informer.
struct InformerOptions {
  Target target;  // Required. A collection.
  meta::LabelSelector label_selector = {};
  meta::FieldSelector field_selector = {};
  // Added before the start, so that each handler sees every object.
  std::vector<InformerHandler> handlers = {};
  // Returns what is kept and told of an object, most often a part of it that takes less memory: it
  // has the same name, namespace, uid and resourceVersion. client-go's TransformFunc. Called on the
  // informer's thread, which may block. Null: objects are kept whole.
  std::function<runtime::ObjectPtr(const runtime::ObjectPtr& object)> transform = nullptr;
  // Requests the list as the first events of a watch; a server that refuses is asked for a list.
  bool watch_list = true;
  std::int64_t page_objects_max = 500;
  // The server ends each watch after this to twice this; the informer resumes it at its revision.
  std::chrono::seconds watch_timeout = std::chrono::seconds(300);
  // The pause after a failure, doubled up to the maximum by further ones; a success resets it.
  std::chrono::milliseconds backoff = std::chrono::milliseconds(800);
  std::chrono::milliseconds backoff_max = std::chrono::seconds(30);
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();
};

// A running copy. Reading methods may be called from any thread; Start and Stop belong to the
// owner.
class Informer {
 public:
  virtual ~Informer() = default;  // Stops.

  // Starts to follow the server, on a thread of its own. Call it once.
  virtual void Start() = 0;
  // Ends the thread and waits for it. Idempotent; not to be called by a handler.
  virtual void Stop() = 0;

  // True once the whole collection has been seen and the handlers have been told.
  virtual bool HasSynced() const = 0;
  // Waits for that. False: `timeout` passed first.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
  // The revision that the copy has reached; empty before it has synced.
  virtual std::string LastResourceVersion() const = 0;

  // Returns one object; `namespace_` is empty for cluster-scoped kinds. Null: there is none.
  virtual runtime::ObjectPtr Get(std::string_view namespace_, std::string_view name) const = 0;
  // Returns all objects, ordered by namespace and name.
  virtual std::vector<runtime::ObjectPtr> List() const = 0;
};

// `client` must outlive the informer.
std::unique_ptr<Informer> NewInformer(Client& client, InformerOptions options);

}  // namespace apiserver::inline v0::client
