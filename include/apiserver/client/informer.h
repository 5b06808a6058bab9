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

// A copy of a collection that follows the server: k8s.io/client-go/tools/cache, reflector and
// informer in one.
namespace apiserver::inline v0::client {

// Called on the informer's thread, in order, without a lock held; should not take long.
struct InformerHandler {
  std::function<void(const runtime::ObjectPtr& object)> on_add = nullptr;
  std::function<void(const runtime::ObjectPtr& before, const runtime::ObjectPtr& now)> on_update =
      nullptr;
  // The last state that was seen, which need not be the last there was.
  std::function<void(const runtime::ObjectPtr& object)> on_delete = nullptr;
};

struct InformerOptions {
  Target target;  // Required. A collection.
  meta::LabelSelector label_selector = {};
  meta::FieldSelector field_selector = {};
  // Added before it starts, so that each sees every object.
  std::vector<InformerHandler> handlers = {};
  // Ask for the list as the first events of a watch; servers that refuse are asked for a list.
  bool watch_list = true;
  std::int64_t page_objects_max = 500;
  // A watch is ended by the server after this to twice this, and taken up where it was.
  std::chrono::seconds watch_timeout = std::chrono::seconds(300);
  // After a failure it waits this long, doubling up to the maximum; a success starts it over.
  std::chrono::milliseconds backoff = std::chrono::milliseconds(800);
  std::chrono::milliseconds backoff_max = std::chrono::seconds(30);
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();
};

// Reading methods from any thread; Start and Stop are the owner's.
class Informer {
 public:
  virtual ~Informer() = default;  // Stops.

  // Begins to follow, on a thread of its own. Once.
  virtual void Start() = 0;
  // Ends the thread. Idempotent; not from a handler.
  virtual void Stop() = 0;

  // Whether the whole collection has been seen, and the handlers have been told.
  virtual bool HasSynced() const = 0;
  // False: `timeout` passed first.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
  // How far it has come; empty before it has synced.
  virtual std::string LastResourceVersion() const = 0;

  // Null when there is none; `namespace_` is empty for cluster-scoped kinds.
  virtual runtime::ObjectPtr Get(std::string_view namespace_, std::string_view name) const = 0;
  // In the order of namespace and name.
  virtual std::vector<runtime::ObjectPtr> List() const = 0;
};

// `client` must outlive the informer.
std::unique_ptr<Informer> NewInformer(Client& client, InformerOptions options);

}  // namespace apiserver::inline v0::client
