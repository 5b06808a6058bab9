#include "apiserver/delegation/cluster_client.h"

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apiserver/auth/authenticator.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/client_config.h"
#include "apiserver/codec/json.h"
#include "apiserver/http/tls.h"
#include "apiserver/testing/server/test_server.h"
#include "client/scripted_plug_in.h"
#include "text/base64.h"

namespace apiserver::inline v0::delegation {
namespace {

using testing::ScriptedPlugIn;

// Takes one bearer token. Requests without a token are the inner authenticator's.
class OneToken final : public auth::Authenticator {
 public:
  explicit OneToken(std::shared_ptr<const auth::Authenticator> inner) : inner_(std::move(inner)) {}

  Result<std::optional<auth::AuthenticateResponse>> Authenticate(
      const Context& ctx, const http::Request& request) const override {
    const std::string_view given = request.headers.Get("Authorization");
    if (given.empty()) return inner_->Authenticate(ctx, request);
    if (given != "Bearer " + *token.Lock()) return Status(Reason::kUnauthorized, "bad token");
    return auth::AuthenticateResponse{
        .user = std::make_shared<auth::UserInfo>(auth::UserInfo{.name = "plugged"})};
  }

  Guarded<std::string> token{"first"};

 private:
  const std::shared_ptr<const auth::Authenticator> inner_;
};

// A server on a free port, and a kubeconfig for it that names the plug-in by a relative path.
struct Cluster {
  explicit Cluster(const ScriptedPlugIn& plug_in) {
    const auto configure = [this](server::Config& config) {
      authenticator = std::make_shared<OneToken>(config.authenticator);
      config.authenticator = authenticator;
    };
    server = testing::StartTestServer({.listen = true, .configure = configure}).value();
    std::string ca;
    text::AppendBase64(server->kubeconfig().ca_pem, ca);
    plug_in.Write("kubeconfig",
                  "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
                  "clusters: [{name: k, cluster: {server: '" +
                      server->kubeconfig().server + "', certificate-authority-data: '" + ca +
                      "'}}]\nusers: [{name: u, user: {exec: {command: ./credentials, apiVersion: "
                      "client.authentication.k8s.io/v1, interactiveMode: IfAvailable}}}]\n");
    config = client::ReadClientConfigFile(RealFileSystem(), plug_in.folder() + "/kubeconfig");
  }

  // Returns the code of a request by each of the two clients of a configuration.
  std::function<int()> CallerOfCluster() const {
    std::shared_ptr<client::Client> made =
        NewClusterClient(config.value(), *dialer, RealFileSystem()).value();
    return [made] { return made->Call(Context::Background(), {.target = "/version"})->code; };
  }
  std::function<int()> Follower() const {
    const auto made = client::NewFollowedClient(config.value(), {.executor = pool.get()}).value();
    const std::string url = config.value().server + "/version";
    return [made, url] {
      return made->Call(Context::Background(), {.method = "GET", .url = url})->code;
    };
  }

  std::shared_ptr<OneToken> authenticator;
  std::unique_ptr<testing::TestServer> server;
  std::unique_ptr<http::Dialer> dialer = http::NewDialer();
  std::unique_ptr<ThreadPool> pool = NewThreadPool();
  Result<client::ClientConfig> config = Status(Reason::kNotFound, "not read");
};

// Asks until the answer is `code`: what runs already when a server refuses may still be the old
// script.
bool Becomes(const std::function<int()>& call, int code) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    if (call() == code) return true;
  }
  return false;
}

TEST_CASE("delegation: a kubeconfig's plug-in authenticates by token", "[delegation]") {
  const ScriptedPlugIn plug_in(ScriptedPlugIn::Printing(R"("token":"first")"));
  const Cluster cluster(plug_in);
  for (const auto& call : {cluster.CallerOfCluster(), cluster.Follower()}) {
    *cluster.authenticator->token.Lock() = "first";
    plug_in.Become(ScriptedPlugIn::Printing(R"("token":"first")"));
    const auto runs = plug_in.runs();
    CHECK(call() == 200);
    CHECK(call() == 200);
    CHECK(plug_in.runs() == runs + 1);

    *cluster.authenticator->token.Lock() = "second";
    plug_in.Become(ScriptedPlugIn::Printing(R"("token":"second")"));
    CHECK(call() == 401);
    CHECK(call() == 200);
    CHECK(plug_in.runs() == runs + 2);
  }
}

TEST_CASE("delegation: a kubeconfig's plug-in authenticates by certificate", "[delegation]") {
  const ScriptedPlugIn plug_in(R"(cat "${0%/*}/output")");
  const auto print = [&](const http::KeyPair& pair) {
    std::string json = R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
                       R"("status":{"clientCertificateData":)";
    codec::AppendJsonString(pair.certificate_pem, json);
    json += R"(,"clientKeyData":)";
    codec::AppendJsonString(pair.key_pem, json);
    plug_in.Write("output", json + "}}");
  };
  const Cluster cluster(plug_in);
  const auto admin = cluster.server->kubeconfig();
  for (const auto& call : {cluster.CallerOfCluster(), cluster.Follower()}) {
    print(http::NewCertificateAuthority("stranger", RealClock()).value());
    CHECK(call() == 401);
    print({admin.client_certificate_pem, admin.client_key_pem});
    CHECK(Becomes(call, 200));
  }
}

TEST_CASE("delegation: a watch that is refused makes the plug-in run again", "[delegation]") {
  const ScriptedPlugIn plug_in(ScriptedPlugIn::Printing(R"("token":"first")"));
  const Cluster cluster(plug_in);
  const auto client =
      NewClusterClient(cluster.config.value(), *cluster.dialer, RealFileSystem()).value();
  const auto watch = [&] {
    return client->Watch(Context::Background(), {.resource = {"", "v1", "pods"}}, {})
        .status()
        .reason();
  };
  CHECK(watch() == Reason::kNotFound);
  *cluster.authenticator->token.Lock() = "second";
  plug_in.Become(ScriptedPlugIn::Printing(R"("token":"second")"));
  CHECK(watch() == Reason::kUnauthorized);
  CHECK(watch() == Reason::kNotFound);
  CHECK(plug_in.runs() == 2);
}

TEST_CASE("delegation: a cluster is not asked when the plug-in fails", "[delegation]") {
  const ScriptedPlugIn plug_in("exit 1");
  const Cluster cluster(plug_in);
  const auto client =
      NewClusterClient(cluster.config.value(), *cluster.dialer, RealFileSystem()).value();
  CHECK(client->Call(Context::Background(), {.target = "/version"}).status() ==
        Status(Reason::kServiceUnavailable, "getting credentials: exec: executable " +
                                                plug_in.path() + " failed with exit code 1"));
}

}  // namespace
}  // namespace apiserver::inline v0::delegation
