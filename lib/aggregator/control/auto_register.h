#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "apiserver/base/context.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/client.h"
#include "apiserver/controller/controller.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::aggregator {

// The label of APIServices that the server manages itself: "onstart" or "true".
inline constexpr std::string_view kManagedLabel = "kube-aggregator.kubernetes.io/automanaged";

// How an APIService is managed.
enum class Managed : std::uint8_t { kNot, kOnStart, kAlways };

// A local APIService that is wanted.
struct Wanted {
  std::string group;
  std::string version;
  std::int64_t group_priority = 0;
  std::int64_t version_priority = 0;
  Managed managed = Managed::kAlways;
};

// The state of an APIService that exists.
struct Present {
  Managed managed = Managed::kNot;
  bool at_start = false;   // It was there when the server started.
  bool as_wanted = false;  // Its spec is the wanted one.
};

// A step that brings an APIService to its wanted state.
enum class Action : std::uint8_t { kNothing, kCreate, kUpdate, kDelete };

// Decides. nullopt: there is no such APIService, none is wanted. `synced`: it was as wanted once
// since the server started. Follows checkAPIService of pkg/controllers/autoregister.
Action Decide(const std::optional<Present>& present, std::optional<Managed> wanted, bool synced);

// Returns the priorities of a built-in group version, as a kube-apiserver registers it. nullopt: it
// registers none of that name.
std::optional<Wanted> BuiltIn(std::string_view group, std::string_view version);

// Creates, updates and deletes local APIServices, so that they are as they are wanted: the
// autoRegisterController of k8s.io/kube-aggregator. Any thread.
class AutoRegister {
 public:
  struct Needs {
    Executor* pool = nullptr;  // Must outlive this.
    std::shared_ptr<client::Client> client;
    // Returns the present state of an APIService. Null: it does not exist.
    std::function<runtime::ObjectPtr(const std::string& name)> find;
    std::shared_ptr<metrics::Registry> metrics = nullptr;  // Null: nothing is counted.
  };
  explicit AutoRegister(Needs needs);
  ~AutoRegister() { Stop(); }

  // Begins, with the names of the APIServices that are there.
  void Start(std::set<std::string> at_start);
  // Wants an APIService, or wants it no more.
  void Want(const Wanted& wanted);
  void WantNot(const std::string& name);
  // An APIService has changed.
  void Add(const std::string& name) { controller_->queue().Add({"", name}); }
  // Ends all work and waits for what is running. Idempotent.
  void Stop();

 private:
  struct State {
    bool started = false;
    std::set<std::string> at_start;
    std::set<std::string> synced;
    std::map<std::string, Wanted> wanted;
  };

  Status Sync(const std::string& name);
  Status Do(Action action, const std::string& name, const runtime::ObjectPtr& present,
            const std::optional<Wanted>& wanted) const;

  const Needs needs_;
  const Context ctx_;  // Cancelled by Stop().
  Guarded<State> state_;
  const std::unique_ptr<controller::Controller> controller_;
};

}  // namespace apiserver::inline v0::aggregator
