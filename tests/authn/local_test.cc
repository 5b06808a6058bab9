// Which audiences the credentials that a server knows by itself are for: Config.New of
// pkg/kubeapiserver/authenticator, and TestAuthenticate of audagnostic_test.go.
#include "apiserver/authn/local.h"

#include <catch2/catch.hpp>

#include "apiserver/auth/audiences.h"
#include "apiserver/authn/bearer_token.h"
#include "authn/fakes.h"

namespace apiserver::inline v0::authn {
namespace {

using Names = std::vector<std::string>;

// As tokens of service accounts: says for which of the wanted audiences a token is.
class AccountTokens final : public auth::TokenAuthenticator {
 public:
  Answer AuthenticateToken(const Context& ctx, std::string_view token) const override {
    if (token != "account") return Nobody();
    Answer answer = Somebody({.name = "robot"});
    const Names* const wanted = auth::AudiencesOf(ctx);
    if (wanted) answer->value().audiences = auth::Intersect({"own"}, *wanted);
    if (wanted && answer->value().audiences.empty()) {
      return Status(Reason::kUnauthorized, "for others");
    }
    return answer;
  }
};

std::shared_ptr<const auth::TokenAuthenticator> KnownTokens(const std::string& token,
                                                            const std::string& name) {
  return NewStaticTokens({{token, {.name = name}}});
}

std::unique_ptr<auth::Authenticator> Local(const Names& api_audiences, bool anonymous = false) {
  return NewLocal({.api_audiences = api_audiences,
                   .requests = {NewBearerToken(KnownTokens("admin", "admin"))},
                   .tokens = {{.tokens = KnownTokens("file", "joe")},
                              {.tokens = std::make_shared<AccountTokens>(), .know_audiences = true},
                              {.tokens = KnownTokens("bootstrap", "node")}},
                   .anonymous = anonymous});
}

// "name [group…] for audience…", or what is wrong; "nobody".
std::string Who(const auth::Authenticator& local, const std::string& token, const Names* wanted) {
  Context ctx = Context::Child(Context::Background());
  if (wanted) ctx.Set(auth::Audiences{*wanted});
  http::Request request;
  if (!token.empty()) request.headers.Add("Authorization", "Bearer " + token);
  const Answer answer = local.Authenticate(ctx, request);
  if (!answer.ok()) return std::string(answer.status().message());
  if (!answer->has_value()) return "nobody";
  std::string who = answer->value().user->name;
  for (const std::string& group : answer->value().user->groups) who += " " + group;
  for (const std::string& audience : answer->value().audiences) who += " for " + audience;
  return who;
}

}  // namespace

TEST_CASE("authn: what knows no audiences is for the server's own", "[authn]") {
  const auto local = Local({"own", "other"});
  const Names own{"own"};
  const Names foreign{"foreign"};
  const Names both{"foreign", "other", "own"};

  for (const auto& [token, name] :
       {std::pair("admin", "admin"), {"file", "joe"}, {"bootstrap", "node"}}) {
    const std::string who = std::string(name) + " system:authenticated";
    CHECK(Who(*local, token, nullptr) == who);
    CHECK(Who(*local, token, &own) == who + " for own");
    CHECK(Who(*local, token, &both) == who + " for other for own");
    CHECK(Who(*local, token, &foreign) == "invalid bearer token");
  }
}

TEST_CASE("authn: a server without audiences knows no token for any", "[authn]") {
  const auto local = Local({});
  const Names wanted{"own"};

  for (const std::string token : {"admin", "file", "bootstrap"}) {
    CHECK(Who(*local, token, nullptr).ends_with(" system:authenticated"));
    CHECK(Who(*local, token, &wanted) == "invalid bearer token");
  }
}

TEST_CASE("authn: tokens that say for whom they are have their own say", "[authn]") {
  const auto local = Local({"own", "other"});
  const Names both{"other", "own"};
  const Names other{"other"};

  CHECK(Who(*local, "account", &both) == "robot system:authenticated for own");
  // The administrator's authenticator was asked too.
  CHECK(Who(*local, "account", &other) == "[invalid bearer token, for others]");
}

TEST_CASE("authn: only who shows no credential is anonymous", "[authn]") {
  CHECK(Who(*Local({"own"}), "", nullptr) == "nobody");
  const auto local = Local({"own"}, true);

  CHECK(Who(*local, "", nullptr) == "system:anonymous system:unauthenticated");
  CHECK(Who(*local, "bad", nullptr) == "invalid bearer token");
}

TEST_CASE("authn: a browser's WebSocket shows a local token too", "[authn]") {
  http::Request request;
  request.headers.Add("Connection", "Upgrade");
  request.headers.Add("Upgrade", "websocket");
  request.headers.Add("Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io.ZmlsZQ, v4");

  const Answer answer = Local({"own"})->Authenticate(Context::Background(), request);

  REQUIRE(answer.ok());
  REQUIRE(answer->has_value());
  CHECK(answer->value().user->name == "joe");
}

}  // namespace apiserver::inline v0::authn
