// TokenReview and SelfSubjectReview: what they ask, what they answer, and their bytes.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/auth/audiences.h"
#include "apiserver/authn/anonymous.h"
#include "apiserver/authn/bearer_token.h"
#include "apiserver/authn/union.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/groups/authentication.h"
#include "apiserver/testing/server/test_server.h"
#include "codec/text.h"

namespace {

namespace auth = apiserver::auth;
namespace authn = apiserver::authn;
namespace authentication = apiserver::groups::authentication;
using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using apiserver::codec::testing::Json;
using apiserver::runtime::KindPtr;
using Names = std::vector<std::string>;
using Found = Result<std::optional<auth::AuthenticateResponse>>;

// Knows one answer, and remembers what it was asked.
class TokenOracle final : public auth::TokenAuthenticator {
 public:
  explicit TokenOracle(Found found) : found_(std::move(found)) {}
  Found AuthenticateToken(const Context& ctx, std::string_view token) const override {
    asked = token;
    for (const std::string& name : auth::AudiencesOf(ctx) ? *auth::AudiencesOf(ctx) : Names()) {
      asked += " for " + name;
    }
    return found_;
  }
  mutable std::string asked;  // One thread at a time.

 private:
  const Found found_;
};

Found Jane(Names audiences = {}) {
  return std::optional(auth::AuthenticateResponse{
      std::make_shared<const auth::UserInfo>(auth::UserInfo{
          .name = "jane", .uid = "7", .groups = {"dev", "ops"}, .extra = {{"scopes", {"a", "b"}}}}),
      std::move(audiences)});
}

KindPtr ReviewKind(const std::string& name) {
  const std::vector<KindPtr> kinds = authentication::Kinds().value();
  for (const KindPtr& kind : kinds) {
    if (kind->kind() == name) return kind;
  }
  FAIL("no kind " << name);
  return nullptr;
}

std::unique_ptr<apiserver::runtime::Object> Read(const std::string& kind, const std::string& json) {
  auto decoded = apiserver::codec::DecodeObject(apiserver::codec::MediaType::kJson,
                                                std::make_shared<const std::string>(json),
                                                {.kind = ReviewKind(kind), .version = "v1"});
  INFO(decoded.status().ToString());
  REQUIRE(decoded.ok());
  return std::move(decoded->object);
}

// The answer's status, or the error's message.
std::string Review(const std::shared_ptr<TokenOracle>& tokens, const std::string& json,
                   const Names& api_audiences = {}) {
  const auto storages = authentication::Reviews(
      authentication::Kinds().value(),
      {.authenticator = authn::NewBearerToken(tokens), .api_audiences = api_audiences});
  auto* const creater = dynamic_cast<apiserver::rest::Creater*>(storages.at("tokenreviews").get());
  REQUIRE(creater != nullptr);
  const auto created =
      creater->Create(Context::Background(), Read("TokenReview", json), nullptr, {});
  return created.ok() ? Json((**created)["status"]) : std::string(created.status().message());
}

const std::string kAsk = R"({"spec":{"token":"t"},"status":{"authenticated":true,"error":"x"}})";
const std::string kJaneUser =
    R"({"username":"jane","uid":"7","groups":["dev","ops"],"extra":{"scopes":["a","b"]}})";

}  // namespace

TEST_CASE("groups: a token review says who bears the token, if anybody does", "[groups]") {
  const auto jane = std::make_shared<TokenOracle>(Jane());

  // Members stand where the answer was made first; what is sent is in the schema's order.
  CHECK(Review(jane, kAsk) == R"({"user":)" + kJaneUser + R"(,"authenticated":true})");
  CHECK(jane->asked == "t");
  CHECK(Review(std::make_shared<TokenOracle>(std::nullopt), kAsk) ==
        R"({"user":{},"error":"invalid bearer token"})");
  CHECK(Review(std::make_shared<TokenOracle>(Status(Reason::kUnauthorized, "expired")), kAsk) ==
        R"({"user":{},"error":"expired"})");
  CHECK(Review(jane, "{}") == "token is required for TokenReview in authentication");
  CHECK(Review(jane, R"({"spec":{"token":""}})") ==
        "token is required for TokenReview in authentication");
}

// TestCreateStripsParentContextValuesAndPreservesAudiences
TEST_CASE("groups: a token review is for its own audiences, else for the server's", "[groups]") {
  const auto api = std::make_shared<TokenOracle>(Jane({"api", "kubernetes"}));
  const std::string of_api =
      R"({"user":)" + kJaneUser + R"(,"authenticated":true,"audiences":["api","kubernetes"]})";

  CHECK(Review(api, kAsk, {"api", "kubernetes"}) == of_api);
  CHECK(api->asked == "t for api for kubernetes");
  CHECK(Review(api, R"({"spec":{"token":"t","audiences":["api"]}})", {"server"}) == of_api);
  CHECK(api->asked == "t for api");
  CHECK(Review(api, kAsk) == of_api);
  CHECK(api->asked == "t");
  CHECK(Review(api, R"({"spec":{"token":"t","audiences":["other"]}})") ==
        "Internal error occurred: error validating audiences");
}

TEST_CASE("groups: a token review calls no token anonymous", "[groups]") {
  const auto storages = authentication::Reviews(authentication::Kinds().value(),
                                                {.authenticator = authn::NewAnonymous()});
  auto* const creater = dynamic_cast<apiserver::rest::Creater*>(storages.at("tokenreviews").get());

  const auto created =
      creater->Create(Context::Background(), Read("TokenReview", kAsk), nullptr, {});

  CHECK(Json((**created)["status"]) == R"({"user":{}})");
}

TEST_CASE("groups: without an authenticator there are no token reviews", "[groups]") {
  const auto storages = authentication::Reviews(authentication::Kinds().value(), {});

  CHECK(storages.size() == 1);
  CHECK(storages.contains("selfsubjectreviews"));
}

// The fields' numbers and order, as k8s.io/api v0.35.0 has them in generated.pb.go.
TEST_CASE("groups: a token review's bytes are those of Go's types", "[groups]") {
  const std::string json =
      R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{"name":"n"},)"
      R"("spec":{"token":"t","audiences":["a"]},"status":{"authenticated":true,"user":{)"
      R"("username":"u","uid":"i","groups":["g"],"extra":{"k":["v"]}},"audiences":["a"],)"
      R"("error":"e"}})";
  const auto object = Read("TokenReview", json);

  const auto protobuf = apiserver::codec::EncodeProtobuf(Context::Background(), *object, "v1");

  REQUIRE(protobuf.ok());
  // Spec: token 1, audiences 2.
  CHECK(protobuf->find(std::string("\x12\x06\x0a\x01t\x12\x01"
                                   "a",
                                   8)) != std::string::npos);
  // Status: authenticated 1, user 2 (username 1, uid 2, groups 3, extra 4), error 3, audiences 4.
  const std::string user("\x0a\x01u\x12\x01i\x1a\x01g\"\x08\x0a\x01k\x12\x03\x0a\x01v", 19);
  const std::string status = std::string("\x08\x01\x12\x13", 4) + user +
                             "\x1a\x01"
                             "e\"\x01"
                             "a";
  CHECK(protobuf->find("\x1a" + std::string(1, static_cast<char>(status.size())) + status) !=
        std::string::npos);
  const auto back = apiserver::codec::DecodeObject(
      apiserver::codec::MediaType::kProtobuf, std::make_shared<const std::string>(*protobuf),
      {.kind = ReviewKind("TokenReview"), .version = "v1"});
  REQUIRE(back.ok());
  CHECK(Json((*back->object)["status"]) == Json((*object)["status"]));
}

// --- Through a server. ---

namespace {

std::unique_ptr<apiserver::testing::TestServer> Serving(const authentication::Options& options) {
  auto server = std::move(apiserver::testing::StartTestServer({})).value();
  const Status installed = authentication::Install(server->server(), options);
  INFO(installed.ToString());
  REQUIRE(installed.ok());
  return server;
}

const std::string kReviews = "/apis/authentication.k8s.io/v1/";

}  // namespace

TEST_CASE("groups: kubectl auth whoami is answered", "[groups]") {
  const auto server = Serving({});

  const auto answer =
      server->Call("POST", kReviews + "selfsubjectreviews",
                   R"({"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1",)"
                   R"("metadata":{"name":"gone"},"status":{"userInfo":{"username":"mallory"}}})");

  CHECK(answer.code == 201);
  const auto review = Read("SelfSubjectReview", answer.body);
  CHECK(Json((*review)["status"]) ==
        R"({"userInfo":{"username":"system:apiserver","groups":["system:authenticated",)"
        R"("system:masters"]}})");
  CHECK((*review)["metadata"]["name"].AsString().empty());
  CHECK((*review)["metadata"]["creationTimestamp"].AsString().size() == 20);
}

TEST_CASE("groups: reviews of identity can be created and nothing else", "[groups]") {
  const auto tokens = std::make_shared<TokenOracle>(Jane());
  const auto server = Serving({.authenticator = authn::NewBearerToken(tokens)});

  const auto answer = server->Call("POST", kReviews + "tokenreviews", kAsk);

  CHECK(answer.code == 201);
  CHECK(answer.body.find(R"("status":{"authenticated":true,"user":)" + kJaneUser + "}") !=
        std::string::npos);
  CHECK(server->Call("POST", kReviews + "tokenreviews", "{}").code == 400);
  CHECK(server->Call("GET", kReviews + "tokenreviews").code == 405);
  CHECK(server->Call("GET", kReviews + "selfsubjectreviews").code == 405);
  CHECK(server->Call("DELETE", kReviews + "tokenreviews/x").code == 404);
  const std::string resources = server->Call("GET", "/apis/authentication.k8s.io/v1").body;
  CHECK(resources.find(R"({"name":"tokenreviews","singularName":"tokenreview","namespaced":false,)"
                       R"("kind":"TokenReview","verbs":["create"]})") != std::string::npos);
}
