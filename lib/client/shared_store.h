#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/shared_informer.h"
#include "client/listener.h"
#include "client/object_sink.h"

namespace apiserver::inline v0::client {

// A shared informer's copy of a collection, its indexes and its handlers. Registrations of handlers
// keep it alive. A change enters copy, indexes and the queues of the handlers under one lock, so
// that a handler that is added later misses none and gets none twice.
class SharedStore final : public ObjectSink {
 public:
  void Put(const runtime::ObjectPtr& object) override;
  void Remove(const runtime::ObjectPtr& object) override;
  void Replace(ObjectMap objects) override;

  runtime::ObjectPtr Get(std::string_view namespace_, std::string_view name) const;
  std::vector<runtime::ObjectPtr> List() const;
  std::vector<runtime::ObjectPtr> ListNamespace(std::string_view namespace_) const;
  Status AddIndex(const std::string& name, IndexFunction function);
  Result<std::vector<runtime::ObjectPtr>> ByIndex(std::string_view name,
                                                  std::string_view value) const;
  Result<std::vector<std::string>> IndexValues(std::string_view name) const;

  // Null: the informer was stopped.
  std::shared_ptr<Listener> AddListener(InformerHandler handler,
                                        std::chrono::milliseconds resync_period);
  // Waits for the handler, unless it is on its thread itself.
  void RemoveListener(const std::shared_ptr<Listener>& listener);
  // Ends all handlers and waits for them. No more are taken.
  void Stop();

 private:
  struct Index {
    IndexFunction function;
    std::map<std::string, std::set<ObjectKey>, std::less<>> keys;  // By value.
  };
  struct State {
    ObjectMap objects;
    std::map<std::string, Index, std::less<>> indexes;
    std::vector<std::shared_ptr<Listener>> listeners;
    // Those that have removed themselves; their threads are joined at the end.
    std::vector<std::shared_ptr<Listener>> leaving;
    bool replaced = false;
    bool stopped = false;
  };

  static void AddToIndex(Index& index, const ObjectKey& key, const runtime::ObjectPtr& object);
  static void RemoveFromIndex(Index& index, const ObjectKey& key, const runtime::ObjectPtr& object);
  // Changes copy and indexes, and tells the handlers. Null `now`: the object is gone, and `gone`
  // is its last state.
  static void Change(State& state, const ObjectKey& key, const runtime::ObjectPtr& now,
                     const runtime::ObjectPtr& gone = nullptr);
  void Resync(Listener& listener) const;

  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::client
