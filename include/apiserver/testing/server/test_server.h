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

// A real API server inside a unit test: the whole handler chain without a socket, started in
// milliseconds and stopped by its destructor. A process may run several.
namespace apiserver::inline v0::testing {

// A resource to serve from the generic store, in every served version of its kind.
struct TestResource {
  runtime::KindPtr kind;
  std::shared_ptr<const rest::Strategy> strategy;
  // Makes a subresource from its resource's store when the server starts. Runs on StartTestServer's
  // thread and may block.
  using Subresource =
      std::function<Result<std::shared_ptr<rest::Storage>>(std::shared_ptr<registry::Store>)>;
  // The subresources by name, e.g. "status".
  std::map<std::string, Subresource> subresources = {};
  // Changes the options of the resource's store. Null: no changes. Runs on StartTestServer's thread
  // and may block.
  std::function<void(registry::StoreOptions&)> configure = nullptr;
};

// The configuration of a test server. Pointers must outlive it.
struct TestServerOptions {
  // The kinds to serve as a program serves them (server::InstallKinds), with the subresources that
  // they declare: `options.kinds = {{.kind = pet}}`.
  std::vector<server::Resource> kinds = {};
  // The resources whose stores and subresources the test puts together itself, grouped by the
  // groups of their kinds.
  std::vector<TestResource> resources = {};
  // Run in this order on every write.
  std::vector<std::shared_ptr<const admission::Plugin>> admission = {};
  std::shared_ptr<const auth::Authorizer> authorizer = nullptr;  // Null: everything is allowed.
  // Installs further handlers or groups before the server starts. Null: none. Runs on
  // StartTestServer's thread and may block; an error ends the start.
  std::function<Status(server::GenericAPIServer& server)> install = nullptr;
  // The storage engine; must outlive the server. Null: a new engine in memory, owned by the server.
  apiserver::storage::kv::Engine* engine = nullptr;
  // If set, the server also listens on a free port of 127.0.0.1, with a certificate of its own CA.
  bool listen = false;
  // The two timeouts are those of server::Config, for watches and for all other requests.
  std::chrono::milliseconds min_request_timeout = std::chrono::minutes(30);
  std::chrono::milliseconds request_timeout = std::chrono::seconds(60);
  MemoryBudget::Limits memory = {};
  FeatureGates features = server::DefaultFeatureGates();
  // The server's and the engine's clock. With a FakeClock time stands still.
  const Clock* clock = &RealClock();
  LogSink* log = &NullLogSink();
  // Changes the server's configuration after all other options. Null: no changes. Runs on
  // StartTestServer's thread and may block.
  std::function<void(server::Config&)> configure = nullptr;
};

// A running server with its store and a client. Any thread.
class TestServer {
 public:
  virtual ~TestServer() = default;  // Stops.

  virtual server::GenericAPIServer& server() = 0;
  // An in-process client with the user system:apiserver in the group system:masters. Its objects
  // are of the server's kinds.
  virtual client::Client& client() = 0;
  // The engine of the options, or the one in memory.
  virtual apiserver::storage::kv::Engine& engine() = 0;
  // The store that serves `plural`. Null: there is none.
  virtual registry::Store* store(std::string_view plural) = 0;
  // A kubeconfig of the administrator. Requires `listen`.
  virtual client::Kubeconfig kubeconfig() const = 0;

  // Sends one request in process; `body` is sent as JSON unless `headers` has a Content-Type.
  // Blocks until the response is complete. A request without a response returns the code 0 and the
  // error as the body.
  // NOLINTNEXTLINE(google-default-arguments): no subclass has other defaults
  virtual http::ClientResponse Call(std::string method, std::string target, std::string body = "",
                                    http::Headers headers = {}) = 0;
};

// Starts a server, and returns the first error otherwise. Blocks.
Result<std::unique_ptr<TestServer>> StartTestServer(TestServerOptions options);

}  // namespace apiserver::inline v0::testing
