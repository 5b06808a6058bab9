#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/server/install.h"
#include "apiserver/server/server.h"
#include "apiserver/storage/kv/engine.h"

// A real API server inside a unit test: the whole chain, no socket, up in milliseconds, gone with
// its object. Several may live in one process.
namespace apiserver::inline v0::testing {

// One resource to serve from the generic store, in every version of its kind.
struct TestResource {
  runtime::KindPtr kind;
  std::shared_ptr<const rest::Strategy> strategy;
  // By name, "status": made of the resource's store when the server starts.
  using Subresource =
      std::function<Result<std::shared_ptr<rest::Storage>>(std::shared_ptr<registry::Store>)>;
  std::map<std::string, Subresource> subresources = {};
  // Changes what its store is made of; null: nothing.
  std::function<void(registry::StoreOptions&)> configure = nullptr;
};

struct TestServerOptions {
  // Kinds to serve as a program serves them (server::InstallKinds), with the subresources that they
  // declare: `options.kinds = {{.kind = pet}}`.
  std::vector<server::Resource> kinds = {};
  // Kinds whose stores and subresources the test puts together itself.
  std::vector<TestResource> resources = {};
  std::vector<std::shared_ptr<const admission::Plugin>> admission = {};
  std::shared_ptr<const auth::Authorizer> authorizer = nullptr;  // Null: everything is allowed.
  // Installs what else is to be served, before the server starts; null: nothing.
  std::function<Status(server::GenericAPIServer& server)> install = nullptr;
  // Where objects live; null: an engine in memory, which the server then owns.
  apiserver::storage::kv::Engine* engine = nullptr;
  // Also listen on a free port of 127.0.0.1, with a certificate of its own.
  bool listen = false;
  std::chrono::milliseconds min_request_timeout = std::chrono::minutes(30);
  std::chrono::milliseconds request_timeout = std::chrono::seconds(60);
  MemoryBudget::Limits memory = {};
  FeatureGates features = server::DefaultFeatureGates();
  const Clock* clock = &RealClock();
  LogSink* log = &NullLogSink();
  // Changes what the server is made of, last; null: nothing.
  std::function<void(server::Config&)> configure = nullptr;
};

class TestServer {
 public:
  virtual ~TestServer() = default;  // Stops.

  virtual server::GenericAPIServer& server() = 0;
  // As system:apiserver in system:masters, in process.
  virtual client::Client& client() = 0;
  virtual apiserver::storage::kv::Engine& engine() = 0;
  // The store that serves `plural`; null when there is none.
  virtual registry::Store* store(std::string_view plural) = 0;
  // A kubeconfig of the administrator; needs `listen`.
  virtual client::Kubeconfig kubeconfig() const = 0;

  // One request in process, in short: method, target, body (JSON).
  // NOLINTNEXTLINE(google-default-arguments): nobody overrides it with other defaults
  virtual http::ClientResponse Call(std::string method, std::string target, std::string body = "",
                                    http::Headers headers = {}) = 0;
};

// Starts one. The first thing that is wrong is the error.
Result<std::unique_ptr<TestServer>> StartTestServer(TestServerOptions options);

}  // namespace apiserver::inline v0::testing
