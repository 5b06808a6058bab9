// Tokens of a server's own service accounts, and bootstrap tokens: as good as its objects are.
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/authn/bearer_token.h"
#include "apiserver/authn/bootstrap_token.h"
#include "apiserver/authn/local.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/random.h"
#include "apiserver/codec/json.h"
#include "apiserver/groups/authentication.h"
#include "apiserver/groups/core.h"
#include "apiserver/server/service_accounts.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/test_server.h"
#include "authn/jwk_set.h"
#include "authn/jwt.h"
#include "authn/signature_key.h"
#include "groups/account_keys.h"

namespace {

namespace auth = apiserver::auth;
namespace authn = apiserver::authn;
namespace groups = apiserver::groups;
namespace server = apiserver::server;
using apiserver::Context;
using apiserver::Status;
using apiserver::testing::TestServer;

const std::string kIssuer = "https://issuer.example.com";
const std::string kReview = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const std::string kSecrets = "/api/v1/namespaces/kube-system/secrets";
const std::string kAccounts = "/api/v1/namespaces/default/serviceaccounts";

// A server that knows tokens of its own accounts and bootstrap tokens.
struct OwnTokens {
  explicit OwnTokens(bool lookup = true) {
    REQUIRE(files->WriteAtomically("/sa.key", AccountKey(), 0600).ok());
    auto made = server::NewServiceAccountAuthentication({.key_files = {"/sa.key"},
                                                         .issuers = {kIssuer},
                                                         .lookup = lookup,
                                                         .getter = objects,
                                                         .file_system = files.get()});
    REQUIRE(made.status() == Status());
    accounts = *std::move(made);
    authenticator = authn::NewLocal(
        {.api_audiences = accounts.api_audiences,
         .tokens = {
             {.tokens = authn::NewStaticTokens({{"of-a-file", {.name = "jane"}}})},
             {.tokens = accounts.tokens, .know_audiences = true},
             {.tokens = authn::NewBootstrapTokens({.secrets = objects->BootstrapSecrets()})}}});
    auto maker = authn::NewServiceAccountTokenGenerator(kIssuer, AccountKey(), *random);
    REQUIRE(maker.ok());
    generator = *std::move(maker);
    Start();
  }

  void Start() {
    apiserver::testing::TestServerOptions options;
    options.engine = engine.get();
    options.configure = [this](server::Config& config) {
      config.authenticator = authenticator;
      config.api_audiences = accounts.api_audiences;
    };
    options.install = [this](server::GenericAPIServer& api) {
      const Status installed = groups::core::Install(
          api, {.storage = {.engine = engine.get(), .executor = &api.pool()}, .tokens = objects});
      if (!installed.ok()) return installed;
      return groups::authentication::Install(
          api, {.authenticator = authenticator, .api_audiences = accounts.api_audiences});
    };
    auto started = apiserver::testing::StartTestServer(std::move(options));
    REQUIRE(started.status() == Status());
    api = *std::move(started);
  }

  // Who the bearer of the token is; "401": nobody.
  std::string Who(const std::string& token) const {
    const auto answer = api->Call(
        "POST", kReview, R"({"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"})",
        {{"Authorization", "Bearer " + token}});
    if (answer.code != 201) return std::to_string(answer.code);
    apiserver::runtime::Arena arena;
    const auto review = apiserver::codec::ParseJson(answer.body, arena);
    REQUIRE(review.ok());
    const auto user = (*review)["status"]["userInfo"];
    std::string who(user["username"].AsString());
    for (const auto& group : user["groups"].items()) who += " " + std::string(group.AsString());
    return who;
  }

  // What a TokenReview says: "USER for AUDIENCE…", or "error: …".
  std::string Review(const std::string& token, const std::string& audiences = "") const {
    const auto answer = api->Call(
        "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
        R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","spec":{"token":")" +
            token + R"(","audiences":[)" + audiences + "]}}");
    INFO(answer.body);
    REQUIRE(answer.code == 201);
    apiserver::runtime::Arena arena;
    const auto review = apiserver::codec::ParseJson(answer.body, arena);
    REQUIRE(review.ok());
    const auto status = (*review)["status"];
    if (!status["authenticated"].AsBool()) {
      return "error: " + std::string(status["error"].AsString());
    }
    std::string who(status["user"]["username"].AsString());
    for (const auto& one : status["audiences"].items())
      who += " for " + std::string(one.AsString());
    return who;
  }

  std::string Create(const std::string& path, const std::string& body) const {
    const auto answer = api->Call("POST", path, body);
    INFO(answer.body);
    REQUIRE(answer.code == 201);
    apiserver::runtime::Arena arena;
    const auto object = apiserver::codec::ParseJson(answer.body, arena);
    REQUIRE(object.ok());
    return std::string((*object)["metadata"]["uid"].AsString());
  }

  std::string CreateAccount(const std::string& name = "robot") const {
    return Create(kAccounts, R"({"metadata":{"name":")" + name + R"("}})");
  }

  std::string TokenOf(const std::string& uid,
                      authn::ServiceAccountTokenRequest request = {}) const {
    request.namespace_ = "default";
    request.service_account = {"robot", uid};
    request.audiences = {kIssuer};
    return *generator->GenerateToken(request);
  }

  std::unique_ptr<apiserver::FileSystem> files = apiserver::NewMemoryFileSystem();
  std::unique_ptr<apiserver::Random> random = apiserver::NewSeededRandom(1);
  std::unique_ptr<apiserver::storage::kv::Engine> engine = apiserver::storage::memory::NewEngine();
  std::shared_ptr<groups::TokenObjects> objects = std::make_shared<groups::TokenObjects>();
  server::ServiceAccountAuthentication accounts;
  std::shared_ptr<const auth::Authenticator> authenticator;
  std::unique_ptr<authn::ServiceAccountTokenGenerator> generator;
  std::unique_ptr<TestServer> api;
};

const std::string kRobot =
    "system:serviceaccount:default:robot system:serviceaccounts system:serviceaccounts:default "
    "system:authenticated";

// Of kube-system, as kubeadm writes it; `more` are further members of stringData.
std::string BootstrapSecret(const std::string& more,
                            const std::string& type = "bootstrap.kubernetes.io/token") {
  return R"({"metadata":{"name":"bootstrap-token-abcdef"},"type":")" + type +
         R"(","stringData":{"token-id":"abcdef","token-secret":"0123456789abcdef")" + more + "}}";
}
const std::string kUsage = R"(,"usage-bootstrap-authentication":"true")";
const std::string kBootstrapToken = "abcdef.0123456789abcdef";

}  // namespace

TEST_CASE("groups: a token is good at once, and as long as its service account exists",
          "[groups]") {
  const OwnTokens own;
  const std::string uid = own.CreateAccount();
  const std::string token = own.TokenOf(uid);

  CHECK(own.Who(token) == kRobot);
  CHECK(own.api->Call("DELETE", kAccounts + "/robot").code == 200);
  CHECK(own.Who(token) == "401");
}

TEST_CASE("groups: a service account made anew does not bring its old tokens back", "[groups]") {
  const OwnTokens own;
  const std::string old_token = own.TokenOf(own.CreateAccount());
  REQUIRE(own.api->Call("DELETE", kAccounts + "/robot").code == 200);

  const std::string new_token = own.TokenOf(own.CreateAccount());

  CHECK(own.Who(old_token) == "401");
  CHECK(own.Who(new_token) == kRobot);
}

TEST_CASE("groups: a token bound to a secret goes with it, one bound to a pod is refused",
          "[groups]") {
  const OwnTokens own;
  const std::string account = own.CreateAccount();
  const std::string in_default = "/api/v1/namespaces/default/secrets";
  const std::string secret = own.Create(in_default, R"({"metadata":{"name":"key"}})");
  const std::string token = own.TokenOf(account, {.secret = {"key", secret}});

  CHECK(own.Who(token) == kRobot);
  CHECK(own.Who(own.TokenOf(account, {.secret = {"key", "other"}})) == "401");
  // No pods live here.
  CHECK(own.Who(own.TokenOf(account, {.pod = {"web", "1"}})) == "401");
  CHECK(own.api->Call("DELETE", in_default + "/key").code == 200);
  CHECK(own.Who(token) == "401");
}

TEST_CASE("groups: without lookup a token outlives its account", "[groups]") {
  const OwnTokens own(false);

  CHECK(own.Who(own.TokenOf("never-was")) == kRobot);
}

TEST_CASE("groups: a token kept in a secret is good until the secret or its mark says otherwise",
          "[groups]") {
  const OwnTokens own;
  const std::string uid = own.CreateAccount();
  const auto key = authn::SigningKey::FromPem(AccountKey());
  REQUIRE(key.ok());
  const std::string token =
      *authn::SignJwt(*key, key->algorithm(), key->public_key().KeyId(),
                      R"({"iss":"kubernetes/serviceaccount",)"
                      R"("kubernetes.io/serviceaccount/namespace":"default",)"
                      R"("kubernetes.io/serviceaccount/secret.name":"robot-token",)"
                      R"("kubernetes.io/serviceaccount/service-account.name":"robot",)"
                      R"("kubernetes.io/serviceaccount/service-account.uid":")" +
                          uid + R"(","sub":"system:serviceaccount:default:robot"})");
  CHECK(own.Who(token) == "401");
  (void)own.Create("/api/v1/namespaces/default/secrets",
                   R"({"metadata":{"name":"robot-token","annotations":{)"
                   R"("kubernetes.io/service-account.name":"robot"}},)"
                   R"("type":"kubernetes.io/service-account-token","stringData":{"token":")" +
                       token + "\"}}");
  CHECK(own.Who(token) == kRobot);

  const auto marked = own.api->Call(
      "PATCH", "/api/v1/namespaces/default/secrets/robot-token",
      R"({"metadata":{"labels":{"kubernetes.io/legacy-token-invalid-since":"2026-01-01"}}})",
      {{"Content-Type", "application/merge-patch+json"}});

  CHECK(marked.code == 200);
  CHECK(own.Who(token) == "401");
}

TEST_CASE("groups: a bootstrap token is good as soon as its secret is there, and until it is not",
          "[groups]") {
  const OwnTokens own;
  CHECK(own.Who(kBootstrapToken) == "401");
  (void)own.Create(kSecrets, BootstrapSecret(kUsage + R"(,"auth-extra-groups":)"
                                                      R"("system:bootstrappers:kubeadm:nodes")"));

  CHECK(own.Who(kBootstrapToken) ==
        "system:bootstrap:abcdef system:bootstrappers system:bootstrappers:kubeadm:nodes "
        "system:authenticated");
  CHECK(own.Who("abcdef.0123456789abcdee") == "401");
  CHECK(own.api->Call("DELETE", kSecrets + "/bootstrap-token-abcdef").code == 200);
  CHECK(own.Who(kBootstrapToken) == "401");
}

TEST_CASE("groups: a bootstrap token's secret says until when, for what and for whom it is",
          "[groups]") {
  struct Row {
    std::string secret;
    std::string who;
  };
  const std::string known = "system:bootstrap:abcdef system:bootstrappers system:authenticated";
  const Row rows[] = {
      {BootstrapSecret(kUsage), known},
      {BootstrapSecret(kUsage + R"(,"expiration":"2999-01-01T00:00:00Z")"), known},
      {BootstrapSecret(kUsage + R"(,"expiration":"2020-01-01T00:00:00Z")"), "401"},
      {BootstrapSecret(kUsage + R"(,"expiration":"soon")"), "401"},
      {BootstrapSecret(""), "401"},
      {BootstrapSecret(R"(,"usage-bootstrap-signing":"true")"), "401"},
      {BootstrapSecret(kUsage + R"(,"auth-extra-groups":"system:masters")"), "401"},
      {BootstrapSecret(kUsage, "Opaque"), "401"},
  };
  for (const Row& row : rows) {
    INFO(row.secret);
    const OwnTokens own;
    (void)own.Create(kSecrets, row.secret);

    CHECK(own.Who(kBootstrapToken) == row.who);
  }
}

TEST_CASE("groups: a token of any kind is reviewed for the audiences that are asked for",
          "[groups]") {
  const OwnTokens own;
  const std::string account = own.TokenOf(own.CreateAccount());
  (void)own.Create(kSecrets, BootstrapSecret(kUsage));

  for (const auto& [token, who] : {std::pair(std::string("of-a-file"), std::string("jane")),
                                   {kBootstrapToken, "system:bootstrap:abcdef"},
                                   {account, "system:serviceaccount:default:robot"}}) {
    INFO(who);
    // Asked for none, it is for the server's: the issuer of its accounts.
    CHECK(own.Review(token) == who + " for " + kIssuer);
    CHECK(own.Review(token, R"("elsewhere",")" + kIssuer + "\"") == who + " for " + kIssuer);
    CHECK(own.Review(token, R"("elsewhere")").starts_with("error: "));
    CHECK(own.Review(token + "x").starts_with("error: "));
  }
}

TEST_CASE("groups: a token is known again after a restart of the server", "[groups]") {
  OwnTokens own;
  const std::string token = own.TokenOf(own.CreateAccount());
  (void)own.Create(kSecrets, BootstrapSecret(kUsage));
  own.api.reset();

  // Nobody is known while there is no server to ask.
  CHECK(
      own.objects->GetServiceAccount(Context::Background(), "default", "robot").status().reason() ==
      apiserver::Reason::kServiceUnavailable);
  own.Start();

  CHECK(own.Who(token) == kRobot);
  CHECK(own.Who(kBootstrapToken) ==
        "system:bootstrap:abcdef system:bootstrappers system:authenticated");
}

TEST_CASE("groups: whoever reads a server's keys can check the tokens of its accounts",
          "[groups]") {
  const OwnTokens own;
  const auto metadata = own.accounts.Metadata("192.0.2.1:6443");
  REQUIRE(metadata.status() == Status());
  REQUIRE(server::ServeOpenIDMetadata(own.api->server(), *metadata).ok());
  const std::string token = own.TokenOf("1");
  const auto jwt = authn::ParseJwt(token);
  REQUIRE(jwt.ok());

  const auto answer = own.api->Call("GET", "/openid/v1/jwks");

  CHECK(answer.code == 200);
  const auto keys = authn::ParseJwkSet(answer.body);
  REQUIRE(keys.status() == Status());
  CHECK(keys->skipped.empty());
  const authn::SigningAlgorithm algorithms[] = {authn::SigningAlgorithm::kEs256};
  CHECK(authn::HasKeyFor(*jwt, keys->keys));
  CHECK(authn::VerifySignature(*jwt, algorithms, keys->keys) == Status());
  const auto config = own.api->Call("GET", "/.well-known/openid-configuration");
  CHECK(config.body.find(R"("jwks_uri":"https://192.0.2.1:6443/openid/v1/jwks")") !=
        std::string::npos);
}

TEST_CASE("groups: secrets and service accounts are served as Kubernetes serves them", "[groups]") {
  const OwnTokens own;
  const apiserver::http::Headers table{{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};
  (void)own.Create(kAccounts, R"({"metadata":{"name":"robot"},"secrets":[{"name":"a"}]})");
  (void)own.Create(kSecrets, R"({"metadata":{"name":"s"},"stringData":{"a":"1","b":"2"}})");

  const auto accounts = own.api->Call("GET", kAccounts, "", table);
  const auto secrets = own.api->Call("GET", kSecrets, "", table);
  const auto secret = own.api->Call("GET", kSecrets + "/s");

  CHECK(accounts.body.find(R"("cells":["robot","0s"])") != std::string::npos);
  CHECK(secrets.body.find(R"("cells":["s","Opaque",2,"0s"])") != std::string::npos);
  CHECK(secret.body.find(R"("data":{"a":"MQ==","b":"Mg=="},"type":"Opaque"})") !=
        std::string::npos);
  // Who wrote it owns what it became.
  CHECK(secret.body.find(R"("f:data":{".":{},"f:a":{},"f:b":{}})") != std::string::npos);
  const std::string resources = own.api->Call("GET", "/api/v1").body;
  CHECK(resources.find(R"("name":"serviceaccounts","singularName":"serviceaccount")") !=
        std::string::npos);
  CHECK(own.api->Call("POST", kSecrets, R"({"metadata":{"name":"S"}})").code == 422);
}
