#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/controlplane/connections.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/test_server.h"
#include "dialled.h"

// A server with pods on a node, whose kubelet is a server of the test.
namespace kubelet_test {

using namespace apiserver;  // NOLINT: tests only.

// Everything is valid: these tests are about what is reached, not about what is stored.
class PlainStrategy final : public rest::Strategy {
 public:
  explicit PlainStrategy(bool namespaced) : namespaced_(namespaced) {}
  bool NamespaceScoped() const override { return namespaced_; }
  bool AllowUnconditionalUpdate() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }

 private:
  const bool namespaced_;
};

inline server::Resource PlainResource(const std::string& kind, const std::string& plural,
                                      bool namespaced = true) {
  runtime::StructBuilder schema("io.k8s.api.core.v1." + kind);
  schema.Field("metadata", runtime::ObjectMetaSchema());
  for (const char* field : {"spec", "status", "subsets"}) schema.Field(field, runtime::AnySchema());
  auto made = runtime::Kind::New(
      {.kind = kind,
       .plural = plural,
       .namespaced = namespaced,
       .versions = {{.version = "v1", .schema = schema.Build(), .status_subresource = false}}});
  return {.kind = std::move(made).value(), .strategy = std::make_shared<PlainStrategy>(namespaced)};
}

// Dials the port of a server of the test instead of the address asked for, and remembers that one:
// what is proxied to must be global unicast, which the loopback is not.
class Redirecting final : public http::Dialer {
 public:
  explicit Redirecting(int port) : port_(port) {}
  Executor::Cancel DialLater(const http::DialOptions& options, Dialed done) override {
    asked_.Lock()->push_back(options.host + " " + std::to_string(options.port) +
                             (options.tls ? " tls" : ""));
    http::DialOptions there = options;
    there.host = "127.0.0.1";
    there.port = port_;
    return real_->DialLater(there, std::move(done));
  }
  Result<std::unique_ptr<http::Connection>> Dial(const Context& ctx,
                                                 const http::DialOptions& options) override {
    return real_->Dial(ctx, options);
  }
  Executor& loop() override { return real_->loop(); }
  std::vector<std::string> asked() { return *asked_.Lock(); }

 private:
  const int port_;
  const std::unique_ptr<http::Dialer> real_ = http::NewDialer();
  Guarded<std::vector<std::string>> asked_;
};

struct WorldOptions {
  http::Dialer* dialer = nullptr;  // Null: one of the world's own.
  controlplane::KubeletOptions kubelet = {};
  FileSystem* files = &RealFileSystem();
  std::shared_ptr<proxy::Pipes> pipes = nullptr;
  std::vector<std::shared_ptr<const admission::Plugin>> admission = {};
};

class World {
 public:
  explicit World(WorldOptions options = {}) : dialer_(http::NewDialer()) {
    testing::TestServerOptions server;
    server.listen = true;
    server.admission = options.admission;
    server.install = [&](server::GenericAPIServer& api) { return Install(api, options); };
    server_ = testing::StartTestServer(std::move(server)).value();
    client_ = std::make_unique<testing::Dialled>(*server_);
  }

  testing::TestServer& server() { return *server_; }
  testing::Dialled& client() { return *client_; }
  // Stops the server; the dialer goes on.
  void StopServer() {
    client_.reset();
    server_.reset();
  }

  http::ClientResponse Get(const std::string& path) { return server_->Call("GET", path); }
  void Post(const std::string& path, const std::string& body) {
    const auto answer = server_->Call("POST", path, body);
    INFO(answer.body);
    REQUIRE(answer.code == 201);
  }
  // A node whose kubelet listens on a port of the loopback.
  void AddNode(const std::string& name, int port, const std::string& address = "127.0.0.1") {
    Post("/api/v1/nodes", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name +
                              R"("},"status":{"addresses":[{"type":"InternalIP","address":")" +
                              address + R"("}],"daemonEndpoints":{"kubeletEndpoint":{"Port":)" +
                              std::to_string(port) + "}}}}");
  }
  // A pod with the given members of spec and status.
  void AddPod(const std::string& name, const std::string& spec, const std::string& status = "") {
    Post("/api/v1/namespaces/ns/pods", R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" +
                                           name + R"("},"spec":{)" + spec + R"(},"status":{)" +
                                           status + "}}");
  }

 private:
  Status Install(server::GenericAPIServer& api, const WorldOptions& options) {
    std::vector<server::Resource> resources = {
        PlainResource("Pod", "pods"), PlainResource("Node", "nodes", false),
        PlainResource("Service", "services"), PlainResource("Endpoints", "endpoints")};
    auto connections = controlplane::NewConnections(
        api, {.kubelet = options.kubelet,
              .dialer = options.dialer ? options.dialer : dialer_.get(),
              .pipes = options.pipes,
              .files = options.files});
    if (!connections.ok()) return connections.status();
    (*connections)->AddTo(resources);
    engine_ = storage::memory::NewEngine();
    const auto stores = server::InstallKinds(api, api.Storage(*engine_), std::move(resources));
    if (!stores.ok()) return stores.status();
    (*connections)->Use(*stores);
    return {};
  }

  const std::unique_ptr<http::Dialer> dialer_;
  std::unique_ptr<storage::kv::Engine> engine_;
  std::unique_ptr<testing::TestServer> server_;
  std::unique_ptr<testing::Dialled> client_;
};

constexpr const char* kOneContainer = R"("nodeName":"n","containers":[{"name":"c"}])";

// The message of a Status.
inline std::string StatusMessageOf(const http::ClientResponse& answer) {
  runtime::Arena arena;
  const auto status = codec::ParseJson(answer.body, arena);
  if (!status.ok()) return answer.body;
  return std::string((*status)["message"].AsString());
}

}  // namespace kubelet_test
