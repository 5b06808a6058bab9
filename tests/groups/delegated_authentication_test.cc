// A server that leaves authentication to a cluster, which is a server of ours that serves the
// ConfigMap and TokenReviews.
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/authn/bearer_token.h"
#include "apiserver/client/kubeconfig.h"
#include "apiserver/codec/json.h"
#include "apiserver/delegation/delegated_authentication.h"
#include "apiserver/groups/authentication.h"
#include "apiserver/groups/core.h"
#include "apiserver/server/standalone.h"
#include "apiserver/testing/server/test_server.h"

namespace {

namespace auth = apiserver::auth;
namespace authn = apiserver::authn;
namespace client = apiserver::client;
namespace delegation = apiserver::delegation;
namespace http = apiserver::http;
namespace server = apiserver::server;
using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;

// Calls the cluster over the transport of our own listener; a thread for each call that is made.
class DialledHttpClient final : public client::HttpClient {
 public:
  explicit DialledHttpClient(client::HttpClientOptions options) : options_(std::move(options)) {}
  void Start(const Context& /*ctx*/, client::HttpRequest request, Done done) override {
    done(Send(request));
  }

 private:
  Result<http::ClientResponse> Send(const client::HttpRequest& request) {
    const auto dialer = http::NewDialer();
    const std::size_t path = request.url.find('/', std::string("https://").size());
    const auto dial =
        client::DialOptionsFor({.server = request.url.substr(0, path),
                                .ca_pem = options_.tls.ca_pem,
                                .client_certificate_pem = options_.tls.client.certificate_pem,
                                .client_key_pem = options_.tls.client.key_pem});
    if (!dial.ok()) return dial.status();
    auto connection = dialer->Dial(Context::Background(), *dial);
    if (!connection.ok()) return connection.status();
    return (*connection)
        ->Call(Context::Background(), {.method = request.method,
                                       .target = request.url.substr(path),
                                       .headers = request.headers,
                                       .body = request.body});
  }

  const client::HttpClientOptions options_;
};

class Unchecked final : public apiserver::rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  apiserver::field::ErrorList Validate(const Context& /*ctx*/,
                                       const apiserver::runtime::Object& /*map*/) const override {
    return {};
  }
};

std::string JsonText(const std::string& text) {
  std::string json;
  apiserver::codec::AppendJsonString(text, json);
  return json;
}

std::string MapOf(const std::string& client_ca, const std::string& proxy_ca,
                  const std::string& allowed_names = R"(["aggregator"])") {
  return R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":)"
         R"("extension-apiserver-authentication"},"data":{"client-ca-file":)" +
         JsonText(client_ca) + R"(,"requestheader-client-ca-file":)" + JsonText(proxy_ca) +
         R"(,"requestheader-allowed-names":)" + JsonText(allowed_names) +
         R"(,"requestheader-username-headers":"[\"X-Remote-User\"]",)"
         R"("requestheader-group-headers":"[\"X-Remote-Group\"]",)"
         R"("requestheader-extra-headers-prefix":"[\"X-Remote-Extra-\"]"}})";
}

const std::string kMaps = "/api/v1/namespaces/kube-system/configmaps";
const std::string kMap = kMaps + "/extension-apiserver-authentication";
const std::string kKubeconfig = "/cluster.yaml";

struct Cluster {
  Cluster() {
    apiserver::testing::TestServerOptions options{.listen = true};
    const auto kinds = apiserver::groups::core::Kinds().value();
    for (const auto& kind : kinds) {
      if (kind->kind() == "ConfigMap") {
        options.resources.push_back({kind, std::make_shared<Unchecked>()});
      }
    }
    serving = std::move(apiserver::testing::StartTestServer(std::move(options))).value();
    std::vector<authn::StaticToken> known{
        {.token = "janes", .user = {.name = "jane", .uid = "7", .groups = {"dev"}}}};
    REQUIRE(apiserver::groups::authentication::Install(
                serving->server(),
                {.authenticator = authn::NewBearerToken(authn::NewStaticTokens(std::move(known)))})
                .ok());
  }
  // The kubeconfig of the extension server, in `files`.
  void WriteKubeconfig(apiserver::FileSystem& files) const {
    REQUIRE(client::WriteKubeconfigFile(files, kKubeconfig, serving->kubeconfig()).ok());
  }
  void CreateMap(const std::string& map) const {
    const auto created = serving->Call("POST", kMaps, map);
    INFO(created.body);
    REQUIRE(created.code == 201);
  }
  void UpdateMap(const std::string& map) const {
    REQUIRE(serving->Call("PATCH", kMap, map, {{"Content-Type", "application/merge-patch+json"}})
                .code == 200);
  }

  std::unique_ptr<apiserver::testing::TestServer> serving;
};

struct ClientAuthority {
  explicit ClientAuthority(const std::string& name)
      : pair(http::NewCertificateAuthority(name, apiserver::RealClock()).value()) {}
  http::KeyPair Client(const std::string& common_name) const {
    return http::NewCertificate(pair, {.common_name = common_name, .client = true},
                                apiserver::RealClock())
        .value();
  }
  const std::string& pem() const { return pair.certificate_pem; }
  http::KeyPair pair;
};

// What every delegated server of these tests needs and must not outlive.
struct Surroundings {
  std::unique_ptr<apiserver::FileSystem> files = apiserver::NewMemoryFileSystem();
  std::unique_ptr<apiserver::ThreadPool> pool =
      apiserver::NewThreadPool({.name = "delegated", .threads = 2});

  delegation::DelegatedAuthenticationOptions Options() const {
    return {.kubeconfig_file = kKubeconfig,
            .http_client = [](const client::HttpClientOptions& options)
                -> Result<std::shared_ptr<client::HttpClient>> {
              return std::make_shared<DialledHttpClient>(options);
            },
            .executor = pool.get(),
            .file_system = files.get()};
  }
};

// The extension server: answers "/who" with the user and the groups.
struct Extension {
  explicit Extension(const delegation::DelegatedAuthentication& authentication)
      : Extension(Delegated(authentication)) {}
  explicit Extension(server::Config config) {
    self = std::move(*std::move(config).Complete()).New().value();
    const auto who = [](http::Exchange& exchange) -> http::Step {
      const auth::UserInfoPtr& user = exchange.Get<auth::UserInfoPtr>();
      std::string text = user->name;
      for (const std::string& group : user->groups) text += " " + group;
      exchange.writer().Send({}, http::Bytes(text));
      return http::Step::Done();
    };
    REQUIRE(self->HandlePath("/who", who, /*listed=*/false).ok());
    REQUIRE(self->PrepareRun().ok());
    REQUIRE(self->Start().ok());
  }
  static server::Config Delegated(const delegation::DelegatedAuthentication& authentication) {
    server::Config config;
    config.serving = server::NewStandalone({})->serving;
    authentication.Apply(config);
    return config;
  }
  std::unique_ptr<http::Connection> Connect(const http::KeyPair& pair = {}) const {
    return dialer
        ->Dial(Context::Background(),
               {.port = self->port(), .tls = http::ClientTls{.client = pair}, .http2 = false})
        .value();
  }

  std::unique_ptr<http::Dialer> dialer = http::NewDialer();
  std::unique_ptr<server::GenericAPIServer> self;
};

// The answer's body, or its code.
std::string WhoAnswers(http::Connection& connection, http::Headers headers = {}) {
  const auto answer =
      connection.Call(Context::Background(), {.target = "/who", .headers = std::move(headers)});
  REQUIRE(answer.ok());
  return answer->code == 200 ? answer->body : std::to_string(answer->code);
}

bool Soon(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return holds();
}

const http::Headers kBob{{"X-Remote-User", "bob"}, {"X-Remote-Group", "ops"}};

}  // namespace

TEST_CASE("groups: a server leaves authentication to a cluster", "[groups]") {
  const Surroundings around;
  const Cluster cluster;
  cluster.WriteKubeconfig(*around.files);
  const ClientAuthority users("users");
  const ClientAuthority proxies("proxies");
  cluster.CreateMap(MapOf(users.pem(), proxies.pem()));
  const auto authentication =
      delegation::NewDelegatedAuthentication(Context::Background(), around.Options());
  INFO(authentication.status().ToString());
  REQUIRE(authentication.ok());
  CHECK(*Extension::Delegated(*authentication).user_ca->Get() == users.pem());
  const Extension extension(*authentication);
  const auto proxy = extension.Connect(proxies.Client("aggregator"));
  const auto mallory = extension.Connect(proxies.Client("mallory"));
  const auto alice = extension.Connect(users.Client("alice"));
  const auto nobody = extension.Connect();

  CHECK(WhoAnswers(*proxy, kBob) == "bob ops system:authenticated");
  CHECK(WhoAnswers(*mallory, kBob) == "401");
  // A user's certificate speaks for the user, whatever the headers say.
  CHECK(WhoAnswers(*alice, kBob) == "alice system:authenticated");
  CHECK(WhoAnswers(*nobody, kBob) == "401");
  CHECK(WhoAnswers(*nobody, {{"Authorization", "Bearer janes"}}) ==
        "jane dev system:authenticated");
  CHECK(WhoAnswers(*nobody, {{"Authorization", "Bearer stolen"}}) == "401");
  CHECK(extension.self->metrics()->Serialize().find(
            R"(apiserver_delegated_authn_request_total{code="201"} 2)") != std::string::npos);

  // What changes in the cluster counts here, also on connections that exist.
  const ClientAuthority next("next users");
  const auto carol = extension.Connect(next.Client("carol"));
  CHECK(WhoAnswers(*carol) == "401");
  cluster.UpdateMap(MapOf(next.pem(), proxies.pem(), R"(["mallory"])"));
  CHECK(Soon([&] { return WhoAnswers(*carol) == "carol system:authenticated"; }));
  CHECK(WhoAnswers(*alice) == "401");
  CHECK(WhoAnswers(*proxy, kBob) == "401");
  CHECK(WhoAnswers(*mallory, kBob) == "bob ops system:authenticated");

  // A map that is spoilt, or gone, changes nothing.
  cluster.UpdateMap(MapOf("hello", proxies.pem()));
  REQUIRE(cluster.serving->Call("DELETE", kMap).code == 200);
  cluster.CreateMap(MapOf(next.pem(), proxies.pem(), R"(["mallory","aggregator"])"));
  CHECK(Soon([&] { return WhoAnswers(*proxy, kBob) == "bob ops system:authenticated"; }));
  CHECK(WhoAnswers(*carol) == "carol system:authenticated");
}

TEST_CASE("groups: a cluster's authentication configuration may come later", "[groups]") {
  const Surroundings around;
  const Cluster cluster;
  cluster.WriteKubeconfig(*around.files);
  const ClientAuthority users("users");
  auto options = around.Options();
  options.anonymous = true;
  const auto authentication =
      delegation::NewDelegatedAuthentication(Context::Background(), options);
  REQUIRE(authentication.ok());
  const Extension extension(*authentication);
  const auto alice = extension.Connect(users.Client("alice"));
  CHECK(WhoAnswers(*alice) == "system:anonymous system:unauthenticated");

  cluster.CreateMap(MapOf(users.pem(), users.pem()));

  CHECK(Soon([&] { return WhoAnswers(*alice) == "alice system:authenticated"; }));
}

TEST_CASE("groups: authorities may come from files, which are followed", "[groups]") {
  const Surroundings around;
  const ClientAuthority users("users");
  const ClientAuthority next("next");
  const ClientAuthority proxies("proxies");
  REQUIRE(around.files->WriteAtomically("/users.pem", users.pem(), 0600).ok());
  REQUIRE(around.files->WriteAtomically("/proxies.pem", proxies.pem(), 0600).ok());
  auto options = around.Options();
  options.kubeconfig_file = "";
  options.client_ca_file = "/users.pem";
  options.request_header_ca_file = "/proxies.pem";
  options.request_header_allowed_names = {"aggregator"};
  options.file_period = std::chrono::milliseconds(1);
  const auto authentication =
      delegation::NewDelegatedAuthentication(Context::Background(), options);
  INFO(authentication.status().ToString());
  REQUIRE(authentication.ok());
  const Extension extension(*authentication);
  const auto alice = extension.Connect(users.Client("alice"));
  const auto carol = extension.Connect(next.Client("carol"));

  CHECK(WhoAnswers(*alice) == "alice system:authenticated");
  CHECK(WhoAnswers(*extension.Connect(proxies.Client("aggregator")), kBob) ==
        "bob ops system:authenticated");
  REQUIRE(around.files->WriteAtomically("/users.pem", next.pem(), 0600).ok());
  CHECK(Soon([&] { return WhoAnswers(*carol) == "carol system:authenticated"; }));
  CHECK(WhoAnswers(*alice) == "401");
}

TEST_CASE("groups: a standalone server has front proxies beside its own users", "[groups]") {
  const Surroundings around;
  const ClientAuthority proxies("proxies");
  REQUIRE(around.files->WriteAtomically("/proxies.pem", proxies.pem(), 0600).ok());
  auto options = around.Options();
  options.kubeconfig_file = "";
  options.request_header_ca_file = "/proxies.pem";
  options.request_header_allowed_names = {"aggregator"};
  options.request_header_names = {.username = {"X-Remote-User", "X-Teller"}};
  const auto authentication =
      delegation::NewDelegatedAuthentication(Context::Background(), options);
  INFO(authentication.status().ToString());
  REQUIRE(authentication.ok());
  const server::Standalone standalone = server::NewStandalone({}).value();
  server::Config config;
  standalone.Apply(config);
  authentication->PutBefore(config);
  // Without both, clients would keep the certificate to themselves.
  const std::string offered = *config.client_ca->Get();
  CHECK(offered.find(standalone.ca_pem) != std::string::npos);
  CHECK(offered.find(proxies.pem()) != std::string::npos);
  const std::string of_users = *config.user_ca->Get();
  CHECK(of_users.find(standalone.ca_pem) != std::string::npos);
  CHECK(of_users.find(proxies.pem()) == std::string::npos);
  REQUIRE(config.request_headers != nullptr);
  CHECK(*config.request_headers->Get() == options.request_header_names);
  CHECK(config.metrics == standalone.metrics);

  const Extension extension(std::move(config));
  const auto proxy = extension.Connect(proxies.Client("aggregator"));
  const auto mallory = extension.Connect(proxies.Client("mallory"));
  const auto admin = extension.Connect(standalone.admin);
  const auto nobody = extension.Connect();

  CHECK(WhoAnswers(*proxy, kBob) == "bob ops system:authenticated");
  CHECK(WhoAnswers(*proxy, {{"X-Teller", "eve"}}) == "eve system:authenticated");
  CHECK(WhoAnswers(*proxy) == "401");
  CHECK(WhoAnswers(*mallory, kBob) == "401");
  CHECK(WhoAnswers(*nobody, kBob) == "401");
  CHECK(WhoAnswers(*admin, kBob) == "admin system:masters system:authenticated");
  CHECK(WhoAnswers(*nobody, {{"Authorization", "Bearer " + standalone.token}}) ==
        "admin system:masters system:authenticated");
}

namespace {

Status StartError(const delegation::DelegatedAuthenticationOptions& options) {
  return delegation::NewDelegatedAuthentication(Context::Background(), options).status();
}

// A server that knows one token and lets nobody do anything.
struct Closed {
  struct Denying final : auth::Authorizer {
    Result<auth::Verdict> Authorize(const Context& /*ctx*/,
                                    const auth::Attributes& /*attributes*/) const override {
      return auth::Verdict{};
    }
  };
  Closed() {
    server::Config config;
    const auto standalone = server::NewStandalone({}).value();
    config.serving = standalone.serving;
    std::vector<authn::StaticToken> known{
        {.token = "own", .user = {.name = "system:serviceaccount:wardle:apiserver"}}};
    config.authenticator = authn::NewBearerToken(authn::NewStaticTokens(std::move(known)));
    config.authorizer = std::make_shared<Denying>();
    self = std::move(*std::move(config).Complete()).New().value();
    REQUIRE(self->PrepareRun().ok());
    REQUIRE(self->Start().ok());
    kubeconfig = {.server = "https://127.0.0.1:" + std::to_string(self->port()),
                  .ca_pem = standalone.ca_pem,
                  .token = "own"};
  }
  std::unique_ptr<server::GenericAPIServer> self;
  client::Kubeconfig kubeconfig;
};

}  // namespace

TEST_CASE("groups: who may not read the cluster's configuration is told what to apply",
          "[groups]") {
  const Surroundings around;
  const Closed closed;
  REQUIRE(client::WriteKubeconfigFile(*around.files, kKubeconfig, closed.kubeconfig).ok());

  const Status refused = StartError(around.Options());

  CHECK(refused.reason() == Reason::kForbidden);
  const std::string message(refused.message());
  INFO(message);
  CHECK(
      message.starts_with("unable to load configmap kube-system/extension-apiserver-"
                          "authentication: configmaps \"extension-apiserver-authentication\" is "
                          "forbidden: User \"system:serviceaccount:wardle:apiserver\""));
  CHECK(message.find("kind: RoleBinding") != std::string::npos);
  CHECK(message.find("name: extension-apiserver-authentication-reader") != std::string::npos);
  CHECK(message.find("namespace: \"wardle\"") != std::string::npos);
  auto tolerant = around.Options();
  tolerant.tolerate_lookup_failure = true;
  CHECK(StartError(tolerant).ok());
  auto skipping = around.Options();
  skipping.skip_lookup = true;
  CHECK(StartError(skipping).ok());
}

TEST_CASE("groups: a delegated set-up that cannot work stops the start and says why", "[groups]") {
  const Surroundings around;
  const auto message = [](const delegation::DelegatedAuthenticationOptions& options) {
    return std::string(StartError(options).message());
  };
  auto options = around.Options();
  CHECK(message(options).starts_with("--authentication-kubeconfig: "));
  CHECK(message(options).find(kKubeconfig) != std::string::npos);

  // Row 70 of docs/security.md: where TokenReviews go.
  REQUIRE(around.files
              ->WriteAtomically("/user.kubeconfig",
                                "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
                                "clusters: [{name: c, cluster: {server: 'https://a@10.0.0.1'}}]\n",
                                0600)
              .ok());
  options.kubeconfig_file = "/user.kubeconfig";
  CHECK(message(options) ==
        "--authentication-kubeconfig: /user.kubeconfig: kubeconfig: server names a user in its "
        "URL; give username and password instead");

  options.kubeconfig_file = "";
  CHECK(message(options) == "no authentication method configured: nobody could ever be known");
  options.client_ca_file = "/missing.pem";
  CHECK(message(options).starts_with("--client-ca-file: /missing.pem: "));
  REQUIRE(around.files->WriteAtomically("/bad.pem", "hello", 0600).ok());
  options.client_ca_file = "/bad.pem";
  CHECK(message(options) ==
        "--client-ca-file: /bad.pem: the client CA bundle holds no certificate");
  options.client_ca_file = "";
  options.request_header_names.username = {" "};
  CHECK(message(options) == "empty value in \"requestheader-username-headers\"");
  options.request_header_names = {.uid = {"X-Other-Uid"}};
  CHECK(message(options) ==
        "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - "
        "API aggregation will not work");
  auto idle = around.Options();
  idle.executor = nullptr;
  CHECK(message(idle) == "delegated authentication needs an executor");
}
