// Tokens of service accounts that a server issues, and believes.
#include "apiserver/controlplane/token_request.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/authn/local.h"
#include "apiserver/base/file_system.h"
#include "apiserver/codec/json.h"
#include "apiserver/groups/authentication.h"
#include "apiserver/groups/core.h"
#include "apiserver/rest/kind_strategy.h"
#include "apiserver/server/service_accounts.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/fake_clock.h"
#include "apiserver/testing/server/test_server.h"
#include "authn/jwt.h"
#include "groups/account_keys.h"

namespace controlplane_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using http::ClientResponse;

const std::string kIssuer = "https://issuer.example.com";
const std::string kAccounts = "/api/v1/namespaces/default/serviceaccounts";
const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kSecrets = "/api/v1/namespaces/default/secrets";
constexpr std::int64_t kNow = 1'700'000'000;

// A server with the account "robot" that issues tokens and believes them.
struct Issuing {
  explicit Issuing(controlplane::TokenRequestOptions wanted = {}) : wanted(std::move(wanted)) {
    REQUIRE(files->WriteAtomically("/sa.key", AccountKey(), 0600).ok());
    auto made = server::NewServiceAccountAuthentication({.key_files = {"/sa.key"},
                                                         .issuers = {kIssuer},
                                                         .getter = objects,
                                                         .file_system = files.get(),
                                                         .clock = &clock});
    REQUIRE(made.status() == Status());
    accounts = *std::move(made);
    auto generator = authn::NewServiceAccountTokenGenerator(kIssuer, AccountKey(), *random, clock);
    REQUIRE(generator.ok());
    this->wanted.issuer = *std::move(generator);
    this->wanted.api_audiences = accounts.api_audiences;
    this->wanted.objects = objects;
    this->wanted.clock = &clock;
    this->wanted.random = random.get();
    Start();
    robot = Create(kAccounts, R"({"metadata":{"name":"robot"}})");
  }

  void Start() {
    testing::TestServerOptions options;
    options.engine = engine.get();
    options.configure = [this](server::Config& config) {
      config.authenticator =
          authn::NewLocal({.api_audiences = accounts.api_audiences,
                           .tokens = {{.tokens = accounts.tokens, .know_audiences = true}}});
      config.api_audiences = accounts.api_audiences;
      authenticator = config.authenticator;
    };
    options.install = [this](server::GenericAPIServer& api) { return Install(api); };
    auto started = testing::StartTestServer(std::move(options));
    REQUIRE(started.status() == Status());
    api = *std::move(started);
  }

  Status Install(server::GenericAPIServer& server) {
    const registry::StorageConfig storage{.engine = engine.get(), .executor = &server.pool()};
    groups::core::Options core{.storage = storage, .tokens = objects};
    core.account_subresources["token"] = [this](std::shared_ptr<registry::Store> store) {
      return controlplane::NewTokenRequests(std::move(store), wanted);
    };
    const Status installed = groups::core::Install(server, core);
    if (!installed.ok()) return installed;
    std::vector<server::Resource> resources;
    const auto kinds = groups::core::Kinds();
    for (const runtime::KindPtr& kind : *kinds) {
      if (kind->kind() == "Pod") {
        resources.push_back({.kind = kind, .configure = [](registry::StoreOptions& store) {
                               store.validate_schema = false;
                             }});
      }
    }
    const auto stores = server::InstallKinds(server, storage, std::move(resources));
    if (!stores.ok()) return stores.status();
    objects->Use(*stores);
    return groups::authentication::Install(
        server, {.authenticator = authenticator, .api_audiences = accounts.api_audiences});
  }

  // Returns the uid.
  std::string Create(const std::string& path, const std::string& body) const {
    const ClientResponse answer = api->Call("POST", path, body);
    INFO(answer.body);
    REQUIRE(answer.code == 201);
    return Text(answer.body, {"metadata", "uid"});
  }

  ClientResponse Ask(const std::string& spec, const std::string& metadata = "",
                     const std::string& name = "robot") const {
    return api->Call("POST", kAccounts + "/" + name + "/token",
                     R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",)"
                     R"("metadata":{)" +
                         metadata + R"(},"spec":{)" + spec + "}}");
  }

  static std::string Text(const std::string& json, const std::vector<std::string>& path) {
    runtime::Arena arena;
    const auto parsed = codec::ParseJson(json, arena);
    REQUIRE(parsed.ok());
    runtime::Value value = *parsed;
    for (const std::string& each : path) value = value[each];
    return std::string(value.AsString());
  }
  static std::string TokenIn(const ClientResponse& answer) {
    INFO(answer.body);
    REQUIRE(answer.code == 201);
    return Text(answer.body, {"status", "token"});
  }

  // The name of the bearer; "401" if the token is refused.
  std::string Who(const std::string& token) const {
    const ClientResponse answer =
        api->Call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                  R"({"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"})",
                  {{"Authorization", "Bearer " + token}});
    if (answer.code != 201) return std::to_string(answer.code);
    return Text(answer.body, {"status", "userInfo", "username"});
  }

  testing::FakeClock clock{Clock::Wall(std::chrono::seconds(kNow))};
  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  std::unique_ptr<Random> random = NewSeededRandom(1);
  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::shared_ptr<groups::TokenObjects> objects = std::make_shared<groups::TokenObjects>();
  controlplane::TokenRequestOptions wanted;
  server::ServiceAccountAuthentication accounts;
  std::shared_ptr<const auth::Authenticator> authenticator;
  std::unique_ptr<testing::TestServer> api;
  std::string robot;  // Its uid.
};

const std::string kRobot = "system:serviceaccount:default:robot";

std::string PodOf(const std::string& account, const std::string& more = "") {
  return R"({"metadata":{"name":"web"},"spec":{"serviceAccountName":")" + account +
         R"(","containers":[{"name":"c","image":"i"}])" + more + "}}";
}

std::string BoundTo(const std::string& kind, const std::string& name,
                    const std::string& more = "") {
  return R"("boundObjectRef":{"apiVersion":"v1","kind":")" + kind + R"(","name":")" + name + "\"" +
         more + "}";
}

std::string MessageOf(const ClientResponse& answer) {
  return std::to_string(answer.code) + " " + Issuing::Text(answer.body, {"message"});
}

}  // namespace

TEST_CASE("controlplane: a token request is answered as upstream, and its token believed",
          "[controlplane]") {
  const Issuing issuing;

  const ClientResponse answer = issuing.Ask("");

  const std::string token = Issuing::TokenIn(answer);
  CHECK(issuing.Who(token) == kRobot);
  CHECK(Issuing::Text(answer.body, {"kind"}) == "TokenRequest");
  CHECK(Issuing::Text(answer.body, {"metadata", "name"}) == "robot");
  CHECK(Issuing::Text(answer.body, {"metadata", "namespace"}) == "default");
  CHECK(Issuing::Text(answer.body, {"metadata", "uid"}) == issuing.robot);
  CHECK(Issuing::Text(answer.body, {"metadata", "creationTimestamp"}) == "2023-11-14T22:13:20Z");
  CHECK(
      answer.body.find(R"("spec":{"audiences":["https://issuer.example.com"],)"
                       R"("expirationSeconds":3600,"boundObjectRef":null},"status":{"token":")") !=
      std::string::npos);
  CHECK(Issuing::Text(answer.body, {"status", "expirationTimestamp"}) == "2023-11-14T23:13:20Z");
  const auto jwt = authn::ParseJwt(token);
  REQUIRE(jwt.ok());
  CHECK(jwt->claims["iat"].AsInt() == kNow);
  CHECK(jwt->claims["exp"].AsInt() == kNow + 3600);
  CHECK(jwt->claims["kubernetes.io"]["serviceaccount"]["uid"].AsString() == issuing.robot);
  CHECK(jwt->claims["kubernetes.io"]["warnafter"].is_null());
}

TEST_CASE("controlplane: token requests are refused in upstream's words", "[controlplane]") {
  const Issuing issuing;
  issuing.Create(kPods, PodOf("another"));
  issuing.Create(kSecrets, R"({"metadata":{"name":"key","uid":"x"}})");
  struct Row {
    std::string spec;
    std::string metadata;
    std::string account;
    std::string expected;
  };
  const std::string seconds = R"("expirationSeconds":)";
  const std::string invalid = R"(422 TokenRequest.authentication.k8s.io "" is invalid: )"
                              "spec.expirationSeconds: Invalid value: ";
  const std::vector<Row> rows{
      {"", "", "nobody", R"(404 serviceaccounts "nobody" not found)"},
      {"", R"("name":"other")", "robot",
       R"(422 TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid )"
       R"(value: "other": must match the service account name if specified)"},
      {"", R"("uid":"u")", "robot",
       R"(409 Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot": the )"
       "UID in the token request (u) does not match the UID of the service account (" +
           issuing.robot + ")"},
      {seconds + "599", "", "robot",
       invalid + "599: may not specify a duration less than 10 minutes"},
      {seconds + "0", "", "robot", invalid + "0: may not specify a duration less than 10 minutes"},
      {seconds + "4294967297", "", "robot",
       invalid + "4294967297: may not specify a duration larger than 2^32 seconds"},
      {BoundTo("Pod", "web"), "", "robot",
       R"(400 cannot bind token for serviceaccount "robot" to pod running with different )"
       "serviceaccount name."},
      {BoundTo("Pod", "none"), "", "robot", R"(404 pods "none" not found)"},
      {BoundTo("Node", "none"), "", "robot", R"(404 nodes "none" not found)"},
      {BoundTo("Secret", "none"), "", "robot", R"(404 secrets "none" not found)"},
      {BoundTo("ConfigMap", "a"), "", "robot",
       "400 cannot bind token to object of type /v1, Kind=ConfigMap"},
      {R"("boundObjectRef":{"apiVersion":"a/b/c","kind":"Pod2","name":"web"})", "", "robot",
       "400 cannot bind token to object of type /, Kind=Pod2"},
      {BoundTo("Secret", "key", R"(,"uid":"y")"), "", "robot",
       R"(409 Operation cannot be fulfilled on Secret "key": the UID in the bound object )"
       "reference (y) does not match the UID in record. The object might have been deleted and "
       "then recreated"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.spec, row.metadata, row.account);
    CHECK(MessageOf(issuing.Ask(row.spec, row.metadata, row.account)) == row.expected);
  }
  CHECK(issuing.Ask("", R"("namespace":"other")").code == 400);
  CHECK(issuing.Ask("", R"("uid":")" + issuing.robot + "\"").code == 201);
}

TEST_CASE("controlplane: a token dies with its service account", "[controlplane]") {
  const Issuing issuing;
  const std::string token = Issuing::TokenIn(issuing.Ask(""));
  REQUIRE(issuing.Who(token) == kRobot);

  REQUIRE(issuing.api->Call("DELETE", kAccounts + "/robot").code == 200);

  CHECK(issuing.Who(token) == "401");
}

TEST_CASE("controlplane: a bound token dies with its secret or pod, or when its time is over",
          "[controlplane]") {
  Issuing issuing;
  issuing.Create(kPods, PodOf("robot", R"(,"nodeName":"node-1")"));
  issuing.Create(kSecrets, R"({"metadata":{"name":"key"}})");
  const std::string of_pod = Issuing::TokenIn(issuing.Ask(BoundTo("Pod", "web")));
  const std::string of_secret = Issuing::TokenIn(issuing.Ask(BoundTo("Secret", "key")));
  const std::string bound_to_nothing = Issuing::TokenIn(issuing.Ask(""));
  REQUIRE(issuing.Who(of_pod) == kRobot);
  REQUIRE(issuing.Who(of_secret) == kRobot);
  const auto jwt = authn::ParseJwt(of_pod);
  REQUIRE(jwt.ok());
  CHECK(jwt->claims["kubernetes.io"]["pod"]["name"].AsString() == "web");
  CHECK(jwt->claims["kubernetes.io"]["node"]["name"].AsString() == "node-1");

  REQUIRE(issuing.api->Call("DELETE", kPods + "/web").code == 200);
  CHECK(issuing.Who(of_pod) == "401");
  CHECK(issuing.Who(of_secret) == kRobot);
  REQUIRE(issuing.api->Call("DELETE", kSecrets + "/key").code == 200);
  CHECK(issuing.Who(of_secret) == "401");
  CHECK(issuing.Who(bound_to_nothing) == kRobot);
  issuing.clock.Advance(std::chrono::seconds(3600 + 61));
  CHECK(issuing.Who(bound_to_nothing) == "401");
}

TEST_CASE("controlplane: long expirations are shortened with a warning", "[controlplane]") {
  const Issuing issuing({.max_expiration = std::chrono::hours(1)});

  const ClientResponse answer = issuing.Ask(R"("expirationSeconds":7200)");

  CHECK(authn::ParseJwt(Issuing::TokenIn(answer))->claims["exp"].AsInt() == kNow + 3600);
  CHECK(answer.headers.Get("Warning") ==
        R"(299 - "requested expiration of 7200 seconds shortened to 3600 seconds")");
  CHECK(answer.body.find(R"("expirationSeconds":3600)") != std::string::npos);
}

// The tokens that admission gives to pods: TestServiceAccountTokenCreate's rows of the extension.
TEST_CASE("controlplane: the token of a pod is valid for a year, and says an hour",
          "[controlplane]") {
  struct Row {
    bool extend;
    std::string spec;
    std::int64_t expires;
    std::int64_t warn_after;
  };
  const std::string asked = R"("expirationSeconds":3607,)";
  const std::string other = R"("audiences":["other"],)";
  const std::vector<Row> rows{
      {true, asked + BoundTo("Pod", "web"), kNow + 31'536'000, kNow + 3607},
      {false, asked + BoundTo("Pod", "web"), kNow + 3607, 0},
      {true, asked + BoundTo("Secret", "key"), kNow + 3607, 0},
      {true, R"("expirationSeconds":3608,)" + BoundTo("Pod", "web"), kNow + 3608, 0},
      {true, asked + other + BoundTo("Pod", "web"), kNow + 3607, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.extend, row.spec);
    const Issuing issuing({.extend_expiration = row.extend});
    issuing.Create(kPods, PodOf("robot"));
    issuing.Create(kSecrets, R"({"metadata":{"name":"key"}})");
    const ClientResponse answer = issuing.Ask(row.spec);
    const auto jwt = authn::ParseJwt(Issuing::TokenIn(answer));
    REQUIRE(jwt.ok());
    CHECK(jwt->claims["exp"].AsInt() == row.expires);
    CHECK(jwt->claims["kubernetes.io"]["warnafter"].AsInt() == row.warn_after);
    CHECK(Issuing::Text(answer.body, {"status", "expirationTimestamp"})
              .starts_with("2023-11-14T23:13"));
  }
}

TEST_CASE("controlplane: token requests need an issuer", "[controlplane]") {
  CHECK(controlplane::NewTokenRequests(nullptr, {}).status().reason() == Reason::kInvalid);
}

}  // namespace controlplane_test
