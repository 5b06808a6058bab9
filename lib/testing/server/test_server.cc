#include "apiserver/testing/server/test_server.h"

#include <map>
#include <utility>

#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
#include "base/status_macros.h"

namespace apiserver::v0::testing {

namespace {

// Members are destroyed bottom up: the client before the server, the server before its engine.
class Running final : public TestServer {
 public:
  explicit Running(TestServerOptions options) : options_(std::move(options)) {}

  Status Start() {
    if (!options_.engine) {
      owned_engine_ = apiserver::storage::memory::NewEngine({.clock = *options_.clock});
      options_.engine = owned_engine_.get();
    }
    ASSIGN_OR_RETURN(standalone_, server::NewStandalone({}));
    server::Config config;
    config.name = "test";
    config.admission = options_.admission;
    config.authorizer = options_.authorizer;
    config.min_request_timeout = options_.min_request_timeout;
    config.request_timeout = options_.request_timeout;
    config.memory = options_.memory;
    config.features = options_.features;
    config.shutdown_grace = std::chrono::seconds(5);
    config.clock = options_.clock;
    config.log = options_.log;
    standalone_.Apply(config);
    // The configuration of a standalone server listens by default.
    if (!options_.listen) config.serving.reset();
    if (options_.configure) options_.configure(config);
    ASSIGN_OR_RETURN(server::CompletedConfig completed, std::move(config).Complete());
    ASSIGN_OR_RETURN(server_, std::move(completed).New());
    // Groups are installed before PrepareRun(), which makes the OpenAPI documents of them.
    RETURN_IF_ERROR(InstallGroups());
    if (options_.install) RETURN_IF_ERROR(options_.install(*server_));
    RETURN_IF_ERROR(server_->PrepareRun());
    RETURN_IF_ERROR(server_->Start());
    // The whole chain without a socket: only the network is missing.
    connection_ = server_->LoopbackConnection();
    client_ = client::NewClient(connection_, "", &server_->scheme());
    return {};
  }

  server::GenericAPIServer& server() override { return *server_; }
  client::Client& client() override { return *client_; }
  apiserver::storage::kv::Engine& engine() override { return *options_.engine; }
  registry::Store* store(std::string_view plural) override {
    const auto found = stores_.find(plural);
    return found == stores_.end() ? nullptr : found->second.get();
  }

  client::Kubeconfig kubeconfig() const override {
    return {.server = "https://127.0.0.1:" + std::to_string(server_->port()),
            .ca_pem = standalone_.ca_pem,
            .client_certificate_pem = standalone_.admin.certificate_pem,
            .client_key_pem = standalone_.admin.key_pem};
  }

  http::ClientResponse Call(std::string method, std::string target, std::string body,
                            http::Headers headers) override {
    if (!body.empty() && !headers.Has("Content-Type")) {
      headers.Add("Content-Type", "application/json");
    }
    auto answer = client_->Call(Context::Background(), {.method = std::move(method),
                                                        .target = std::move(target),
                                                        .headers = std::move(headers),
                                                        .body = std::move(body)});
    if (answer.ok()) return *std::move(answer);
    // Code 0 is no HTTP code: the request was not answered at all.
    return {.code = 0, .headers = {}, .body = answer.status().ToString()};
  }

 private:
  // Serves `storage` at `path` in every served version of the kind.
  static void Serve(const runtime::Kind& kind, const std::string& path,
                    const std::shared_ptr<rest::Storage>& storage, server::APIGroupInfo& group) {
    for (const runtime::KindVersion& version : kind.versions()) {
      if (version.served) group.storage[version.version][path] = storage;
    }
  }

  Status InstallGroups() {
    const registry::StorageConfig config = server_->Storage(*options_.engine);
    std::map<std::string, server::APIGroupInfo> groups;
    for (const TestResource& resource : options_.resources) {
      RETURN_IF_ERROR(server_->scheme().Add(resource.kind));
      registry::StoreOptions store_options{.kind = resource.kind, .strategy = resource.strategy};
      if (resource.configure) resource.configure(store_options);
      ASSIGN_OR_RETURN(const std::shared_ptr<registry::Store> store,
                       registry::NewStore(config, std::move(store_options)));
      stores_.emplace(resource.kind->plural(), store);
      server::APIGroupInfo& group = groups[resource.kind->group()];
      group.group = resource.kind->group();
      const std::string& plural = resource.kind->plural();
      Serve(*resource.kind, plural, store, group);
      for (const auto& [name, make] : resource.subresources) {
        ASSIGN_OR_RETURN(auto subresource, make(store));
        std::string path = plural;
        path.append("/").append(name);
        Serve(*resource.kind, path, subresource, group);
      }
    }
    for (auto& [name, group] : groups) {
      RETURN_IF_ERROR(server_->InstallAPIGroup(std::move(group)));
    }
    ASSIGN_OR_RETURN(const auto stores, server::InstallKinds(*server_, config, options_.kinds));
    for (std::size_t i = 0; i < stores.size(); ++i) {
      stores_.emplace(options_.kinds[i].kind->plural(), stores[i]);
    }
    return {};
  }

  TestServerOptions options_;
  std::unique_ptr<apiserver::storage::kv::Engine> owned_engine_;
  server::Standalone standalone_;
  std::unique_ptr<server::GenericAPIServer> server_;
  // Before their server, whose log and pool they use.
  std::map<std::string, std::shared_ptr<registry::Store>, std::less<>> stores_;
  std::shared_ptr<http::Connection> connection_;
  std::unique_ptr<client::Client> client_;
};

}  // namespace

Result<std::unique_ptr<TestServer>> StartTestServer(TestServerOptions options) {
  auto running = std::make_unique<Running>(std::move(options));
  RETURN_IF_ERROR(running->Start());
  return running;
}

}  // namespace apiserver::v0::testing
