#include "apiserver/authn/service_account_token.h"

#include <openssl/pem.h>

#include <catch2/catch.hpp>

#include "apiserver/audit/context.h"
#include "apiserver/auth/audiences.h"
#include "authn/fakes.h"
#include "authn/signed_tokens.h"
#include "authn/verified_tokens.h"
#include "base/manual.h"
#include "text/base64.h"

namespace apiserver::inline v0::authn {
namespace {

using std::chrono_literals::operator""s;

std::string PemOf(EVP_PKEY* key, bool private_key) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  if (private_key) {
    PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  } else {
    PEM_write_bio_PUBKEY(bio.get(), key);
  }
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

struct Pems {
  std::string private_key;
  std::string public_key;
};
Pems NewPems(const char* curve) {
  const std::shared_ptr<EVP_PKEY> key(
      curve == nullptr ? EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048})
                       : EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve),
      EVP_PKEY_free);
  return {PemOf(key.get(), true), PemOf(key.get(), false)};
}
const Pems& EcPems() {
  static const Pems pems = NewPems("P-256");
  return pems;
}

// What exists, by "kind/namespace/name".
class Objects final : public ServiceAccountTokenGetter {
 public:
  Result<StoredObject> GetServiceAccount(const Context&, std::string_view namespace_,
                                         std::string_view name) const override {
    return Find("serviceaccount", namespace_, name);
  }
  Result<StoredObject> GetPod(const Context&, std::string_view namespace_,
                              std::string_view name) const override {
    return Find("pod", namespace_, name);
  }
  Result<StoredObject> GetNode(const Context&, std::string_view name) const override {
    return Find("node", "", name);
  }
  Result<StoredSecret> GetSecret(const Context&, std::string_view namespace_,
                                 std::string_view name) const override {
    const auto found = Find("secret", namespace_, name);
    if (!found.ok()) return found.status();
    return StoredSecret{.uid = found->uid,
                        .deleted_at = found->deleted_at,
                        .data = {{"token", token}},
                        .labels = labels};
  }

  std::map<std::string, StoredObject> known;
  std::string token;  // What every secret holds.
  std::map<std::string, std::string> labels;

 private:
  Result<StoredObject> Find(const std::string& kind, std::string_view namespace_,
                            std::string_view name) const {
    const auto found = known.find(kind + "/" + std::string(namespace_) + "/" + std::string(name));
    if (found != known.end()) return found->second;
    return Status(Reason::kNotFound, kind + "s \"" + std::string(name) + "\" not found");
  }
};

struct Accounts {
  explicit Accounts(bool look_up = true) {
    clock.Advance(std::chrono::seconds(1514764800));  // 2018-01-01T00:00:00Z
    objects->known["serviceaccount/myns/mysvcacct"] = {"mysvcacct-uid"};
    keys->Set(EcPems().public_key);
    auto made = NewServiceAccountTokens({.keys = keys,
                                         .issuers = {"https://issuer", "kubernetes/serviceaccount"},
                                         .api_audiences = {"api"},
                                         .getter = look_up ? objects : nullptr,
                                         .clock = &clock});
    REQUIRE(made.status() == Status());
    tokens = *std::move(made);
    auto maker =
        NewServiceAccountTokenGenerator("https://issuer", EcPems().private_key, *random, clock);
    REQUIRE(maker.ok());
    generator = *std::move(maker);
  }
  Answer Ask(const std::string& token) const {
    return tokens->AuthenticateToken(Context::Background(), token);
  }
  std::string ErrorOf(const ServiceAccountTokenRequest& request) const {
    const Answer answer = Ask(*generator->GenerateToken(request));
    CHECK(answer.status().reason() == Reason::kUnauthorized);
    return std::string(answer.status().message());
  }

  testing::ManualClock clock;
  std::unique_ptr<Random> random = NewSeededRandom(1);
  std::shared_ptr<Objects> objects = std::make_shared<Objects>();
  std::shared_ptr<Variable<std::string>> keys = std::make_shared<Variable<std::string>>("");
  std::unique_ptr<auth::TokenAuthenticator> tokens;
  std::unique_ptr<ServiceAccountTokenGenerator> generator;
};

ServiceAccountTokenRequest Request() {
  return {.namespace_ = "myns",
          .service_account = {"mysvcacct", "mysvcacct-uid"},
          .audiences = {"api"}};
}

}  // namespace

// TestTokenGenerateAndValidate
TEST_CASE("authn: a service account's token names the account", "[authn]") {
  const Accounts accounts;
  const Answer answer = accounts.Ask(*accounts.generator->GenerateToken(Request()));
  REQUIRE(answer.status() == Status());
  const auth::UserInfo& user = *answer->value().user;
  CHECK(user.name == "system:serviceaccount:myns:mysvcacct");
  CHECK(user.uid == "mysvcacct-uid");
  CHECK(user.groups ==
        std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:myns"});
  REQUIRE(user.extra.size() == 1);
  const std::string id = user.extra.at("authentication.kubernetes.io/credential-id").front();
  CHECK(id.starts_with("JTI="));
  CHECK(id.size() == 40);
  CHECK(answer->value().audiences == std::vector<std::string>{"api"});
}

// TestClaims
TEST_CASE("authn: a token's claims say to whom and to what it is bound", "[authn]") {
  Accounts accounts;
  ServiceAccountTokenRequest request = Request();
  request.pod = {"mypod", "mypod-uid"};
  request.node = {"mynode", "mynode-uid"};
  request.expires_after = 100s;
  const std::string token = *accounts.generator->GenerateToken(request);
  const auto jwt = ParseJwt(token);
  REQUIRE(jwt.ok());
  CHECK(jwt->claims["sub"].AsString() == "system:serviceaccount:myns:mysvcacct");
  CHECK(jwt->claims["iat"].AsInt() == 1514764800);
  CHECK(jwt->claims["nbf"].AsInt() == 1514764800);
  CHECK(jwt->claims["exp"].AsInt() == 1514764900);
  CHECK(jwt->claims["kubernetes.io"]["pod"]["uid"].AsString() == "mypod-uid");
  CHECK(jwt->key_id == ReadPublicKeys(EcPems().public_key)->front().KeyId());

  accounts.objects->known["pod/myns/mypod"] = {"mypod-uid"};
  CHECK(accounts.Ask(token)->value().user->extra.at("authentication.kubernetes.io/node-name") ==
        std::vector<std::string>{"mynode"});
  CHECK(accounts.Ask(token)->value().user->extra.at("authentication.kubernetes.io/pod-uid") ==
        std::vector<std::string>{"mypod-uid"});
}

// Row 65 of docs/security.md.
TEST_CASE("security 65: only a known key signs tokens of accounts, whatever their header says",
          "[authn]") {
  const Accounts accounts;
  const std::string good = *accounts.generator->GenerateToken(Request());
  const auto jwt = ParseJwt(good);
  REQUIRE(jwt.ok());
  REQUIRE(accounts.Ask(good).ok());
  const std::size_t dot = good.find('.');
  const std::string claims =
      *text::DecodeBase64Url(good.substr(dot + 1, good.rfind('.') - dot - 1));
  const std::string signature = good.substr(good.rfind('.'));
  const SigningKey other = NewEcKey("P-256");
  const SigningAlgorithm es256 = SigningAlgorithm::kEs256;
  const std::string longer = std::string(claims).replace(claims.find("\"api\""), 5, R"("api","x")");

  // Under the name of the known key, under none, under its own.
  for (const std::string& id : {jwt->key_id, std::string(), other.public_key().KeyId()}) {
    CAPTURE(id);
    CHECK(accounts.Ask(*SignJwt(other, es256, id, claims)).status().reason() ==
          Reason::kUnauthorized);
  }
  // A good signature of other claims.
  CHECK(accounts.Ask(good.substr(0, dot + 1) + Base64Url(longer) + signature).status().reason() ==
        Reason::kUnauthorized);
}

// TestValidatePrivateClaims
TEST_CASE("authn: a token that was good is asked again for its time, keys and objects", "[authn]") {
  Accounts accounts;
  ServiceAccountTokenRequest request = Request();
  request.pod = {"x", "x-uid"};
  accounts.objects->known["pod/myns/x"] = {"x-uid"};
  const std::string token = *accounts.generator->GenerateToken(request);
  const auto good = [&] {
    const auto found = accounts.Ask(token);
    return found.ok() && found->has_value();
  };
  REQUIRE(good());
  CHECK(good());
  // One that differs in a single character of the signature is another token.
  std::string forged = token;
  forged.back() = forged.back() == 'A' ? 'Q' : 'A';
  CHECK_FALSE(accounts.Ask(forged).ok());

  accounts.objects->known.erase("pod/myns/x");
  CHECK_FALSE(good());
  accounts.objects->known["pod/myns/x"] = {"x-uid"};
  CHECK(good());
  accounts.keys->Set(NewPems(nullptr).public_key);
  CHECK_FALSE(good());
  accounts.keys->Set(EcPems().public_key);
  CHECK(good());
  accounts.clock.Advance(std::chrono::hours(2));
  CHECK_FALSE(good());
}

TEST_CASE("authn: no more verified tokens are kept than there is room for", "[authn]") {
  const auto keys = std::make_shared<const std::vector<Jwk>>();
  const auto others = std::make_shared<const std::vector<Jwk>>();
  const auto jwt = std::make_shared<const Jwt>();
  VerifiedTokens tokens(8);
  const auto has = [&](int n) { return tokens.Find(keys, std::to_string(n)) != nullptr; };
  for (int n = 0; n < 100; ++n) {
    tokens.Store(keys, std::to_string(n), jwt);
    CHECK(has(0));  // What is used stays.
  }
  int kept = 0;
  for (int n = 1; n < 96; ++n) kept += has(n) ? 1 : 0;
  CHECK(kept <= 8);
  CHECK(has(99));
  CHECK(jwt.use_count() <= 9);

  CHECK(tokens.Find(others, "99") == nullptr);
  tokens.Store(others, "5", jwt);
  CHECK_FALSE(has(99));
  CHECK(tokens.Find(others, "5") == jwt);
  CHECK(jwt.use_count() == 2);
}

TEST_CASE("authn: a token is good as long as what it is bound to exists", "[authn]") {
  Accounts accounts;
  const std::string invalidated = "service account token has been invalidated";
  ServiceAccountTokenRequest request = Request();
  request.service_account.uid = "old";
  CHECK(accounts.ErrorOf(request) ==
        "service account UID (mysvcacct-uid) does not match claim (old)");
  request = Request();
  request.service_account.name = "other";
  CHECK(accounts.ErrorOf(request) == "serviceaccounts \"other\" not found");

  struct Kind {
    std::string name;
    std::string key;
    ServiceAccountTokenRequest::Reference ServiceAccountTokenRequest::*member;
  };
  for (const Kind& kind : {Kind{"pod", "pod/myns/x", &ServiceAccountTokenRequest::pod},
                           Kind{"secret", "secret/myns/x", &ServiceAccountTokenRequest::secret},
                           Kind{"node", "node//x", &ServiceAccountTokenRequest::node}}) {
    CAPTURE(kind.name);
    request = Request();
    request.*kind.member = {"x", "x-uid"};
    CHECK(accounts.ErrorOf(request) == invalidated);
    accounts.objects->known[kind.key] = {"new"};
    CHECK(accounts.ErrorOf(request) == kind.name + " UID (new) does not match service account " +
                                           kind.name + " ref claim (x-uid)");
    accounts.objects->known[kind.key] = {"x-uid", accounts.clock.WallNow() - 61s};
    CHECK(accounts.ErrorOf(request) == invalidated);
    // A minute is for what is deleted just now.
    accounts.objects->known[kind.key] = {"x-uid", accounts.clock.WallNow() - 60s};
    CHECK(accounts.Ask(*accounts.generator->GenerateToken(request)).ok());
  }
  accounts.objects->known["serviceaccount/myns/mysvcacct"] = {"mysvcacct-uid",
                                                              accounts.clock.WallNow() - 61s};
  CHECK(accounts.ErrorOf(Request()) == "service account myns/mysvcacct has been deleted");
  // Nothing is looked up without a getter.
  CHECK(Accounts(false).Ask(*accounts.generator->GenerateToken(request)).ok());
}

// TestValidatePrivateClaims: expired, not yet valid
TEST_CASE("authn: a service account's token ends a minute after its time", "[authn]") {
  Accounts accounts;
  const std::string token = *accounts.generator->GenerateToken(Request());
  accounts.clock.Advance(std::chrono::hours(1) + 60s);
  CHECK(accounts.Ask(token).ok());
  accounts.clock.Advance(1s);
  CHECK(accounts.Ask(token).status().message() == "service account token has expired");
  const std::string future = *accounts.generator->GenerateToken(Request());
  accounts.clock.Advance(-60s);
  CHECK(accounts.Ask(future).ok());
  accounts.clock.Advance(-1s);
  CHECK(accounts.Ask(future).status().message() == "service account token is not valid yet");
}

// TestTokenGenerateAndValidate: the audiences
TEST_CASE("authn: a service account's token is for its audiences", "[authn]") {
  const Accounts accounts;
  const auto ask = [&accounts](std::vector<std::string> of_token, std::vector<std::string> wanted) {
    ServiceAccountTokenRequest request = Request();
    request.audiences = std::move(of_token);
    Context ctx = Context::Child(Context::Background());
    if (!wanted.empty()) ctx.Set(auth::Audiences{std::move(wanted)});
    return accounts.tokens->AuthenticateToken(ctx, *accounts.generator->GenerateToken(request));
  };
  CHECK(ask({}, {})->value().audiences == std::vector<std::string>{"api"});
  CHECK(ask({"foo", "api"}, {"api", "bar"})->value().audiences == std::vector<std::string>{"api"});
  CHECK(ask({"foo"}, {}).status().message() ==
        R"(token audiences ["foo"] is invalid for the target audiences ["api"])");
  CHECK(ask({"foo"}, {"bar"}).status().message() ==
        R"(token audiences ["foo"] is invalid for the target audiences ["bar"])");
}

// TestTokenGenerateAndValidate: wrong key, wrong issuer
TEST_CASE("authn: only the server's own keys sign tokens of service accounts", "[authn]") {
  Accounts accounts;
  const std::string token = *accounts.generator->GenerateToken(Request());
  const Pems rsa = NewPems(nullptr);
  const auto other = *NewServiceAccountTokenGenerator("https://issuer", rsa.private_key,
                                                      *accounts.random, accounts.clock);
  const std::string by_rsa = *other->GenerateToken(Request());
  CHECK(accounts.Ask(by_rsa).status().message() == "invalid signature, no keys found");
  // Rotation: both, whatever holds them, then only the new one.
  accounts.keys->Set(rsa.private_key + EcPems().public_key);
  CHECK(accounts.Ask(by_rsa).ok());
  CHECK(accounts.Ask(token).ok());
  accounts.keys->Set(rsa.public_key);
  CHECK(accounts.Ask(by_rsa).ok());
  CHECK_FALSE(accounts.Ask(token).ok());
  // What cannot be read changes nothing.
  accounts.keys->Set("no keys");
  CHECK(accounts.Ask(by_rsa).ok());

  const auto foreign = *NewServiceAccountTokenGenerator("https://other", rsa.private_key,
                                                        *accounts.random, accounts.clock);
  CHECK_FALSE(accounts.Ask(*foreign->GenerateToken(Request()))->has_value());
  CHECK_FALSE(accounts.Ask("opaque")->has_value());
}

// TestTokenGenerateAndValidate's legacy tokens
TEST_CASE("authn: a legacy token is good while its Secret holds it", "[authn]") {
  Accounts accounts;
  const SigningKey key = *SigningKey::FromPem(EcPems().private_key);
  const auto legacy = [&key](const std::string& claims) {
    return *SignJwt(key, SigningAlgorithm::kEs256, key.public_key().KeyId(),
                    R"({"iss":"kubernetes/serviceaccount",)" + claims + "}");
  };
  const std::string ns = R"("kubernetes.io/serviceaccount/namespace":"myns")";
  const std::string secret = R"(,"kubernetes.io/serviceaccount/secret.name":"mysecret")";
  const std::string name = R"(,"kubernetes.io/serviceaccount/service-account.name":"mysvcacct")";
  const std::string uid = R"(,"kubernetes.io/serviceaccount/service-account.uid":"mysvcacct-uid")";
  const std::string sub = R"(,"sub":"system:serviceaccount:myns:mysvcacct")";
  const std::string token = legacy(ns + secret + name + uid + sub);
  const auto error = [&accounts](const std::string& of) {
    return std::string(accounts.Ask(of).status().message());
  };
  CHECK(error(token) == "Token has been invalidated");
  accounts.objects->known["secret/myns/mysecret"] = {"s"};
  CHECK(error(token) == "Token does not match server's copy");
  accounts.objects->token = token;
  const Answer answer = accounts.Ask(token);
  REQUIRE(answer.status() == Status());
  CHECK(*answer->value().user ==
        auth::UserInfo{.name = "system:serviceaccount:myns:mysvcacct",
                       .uid = "mysvcacct-uid",
                       .groups = {"system:serviceaccounts", "system:serviceaccounts:myns"}});
  CHECK(answer->value().audiences == std::vector<std::string>{"api"});

  accounts.objects->labels = {{"kubernetes.io/legacy-token-invalid-since", "2022-12-29"}};
  CHECK(error(token) ==
        "the token in secret myns/mysecret for service account myns/mysvcacct has been marked "
        "invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or "
        "remove the 'kubernetes.io/legacy-token-invalid-since' label from the secret to "
        "temporarily allow use of this token");
  accounts.objects->labels.clear();

  CHECK(error(legacy(ns + secret + name + uid)) == "sub claim is missing");
  CHECK(error(legacy(R"("a":1)" + secret + name + uid + sub)) == "namespace claim is missing");
  CHECK(error(legacy(ns + name + uid + sub)) == "secretName claim is missing");
  CHECK(error(legacy(ns + secret + uid + sub)) == "serviceAccountName claim is missing");
  CHECK(error(legacy(ns + secret + name + sub)) == "serviceAccountUID claim is missing");
  CHECK(error(legacy(ns + secret + name + uid + R"(,"sub":"system:serviceaccount:myns:other")")) ==
        "sub claim is invalid");
  accounts.objects->known["serviceaccount/myns/mysvcacct"] = {"new"};
  CHECK(error(token) == "ServiceAccount UID (new) does not match claim (mysvcacct-uid)");
  accounts.objects->known["serviceaccount/myns/mysvcacct"] = {"mysvcacct-uid", Clock::Wall()};
  CHECK(error(token) == "ServiceAccount myns/mysvcacct has been deleted");
  accounts.objects->known["secret/myns/mysecret"].deleted_at = Clock::Wall();
  CHECK(error(token) == "Token has been invalidated");
}

TEST_CASE("security 65: a service account's key makes nobody else", "[authn][security]") {
  Accounts accounts;
  const SigningKey key = *SigningKey::FromPem(EcPems().private_key);
  const auto refused = [&](const std::string& claims) {
    return !accounts
                .Ask(*SignJwt(key, SigningAlgorithm::kEs256, key.public_key().KeyId(),
                              R"({"iss":"https://issuer",)" + claims + "}"))
                .ok();
  };
  const std::string bound =
      R"(,"aud":["api"],"kubernetes.io":{"namespace":"myns","serviceaccount":)"
      R"({"name":"mysvcacct","uid":"mysvcacct-uid"}})";
  const std::string sub = R"("sub":"system:serviceaccount:myns:mysvcacct")";
  const std::string exp = R"(,"exp":1514765000)";
  CHECK_FALSE(refused(sub + exp + bound));
  CHECK(refused(sub + bound));  // Without an end.
  CHECK(refused(R"("sub":"system:admin")" + exp + bound));
  CHECK(refused(R"("sub":7)" + exp + bound));
  CHECK(refused(sub + exp + R"(,"aud":"api")"));
  CHECK(refused(sub + exp + R"(,"aud":7,"kubernetes.io":[])"));
}

// TestValidatePrivateClaims' rows of warnafter: the token is good, and its age is told.
TEST_CASE("authn: uses of a stale token are audited and counted", "[authn]") {
  Accounts accounts;
  const auto metrics = std::shared_ptr<metrics::Registry>(metrics::NewRegistry());
  const auto tokens = *NewServiceAccountTokens({.keys = accounts.keys,
                                                .issuers = {"https://issuer"},
                                                .api_audiences = {"api"},
                                                .clock = &accounts.clock,
                                                .metrics = metrics});
  ServiceAccountTokenRequest request = Request();
  request.expires_after = 1000s;
  request.warn_after = 100s;
  request.id = "3d1f7a61-0000-4000-8000-000000000001";
  const std::string token = *accounts.generator->GenerateToken(request);
  CHECK(ParseJwt(token)->claims["kubernetes.io"]["warnafter"].AsInt() == 1514764900);
  CHECK(ParseJwt(token)->claims["jti"].AsString() == request.id);
  const auto annotations = [&] {
    const auto event = std::make_shared<audit::AuditContext>("id", RealClock(), NullLogSink());
    Context ctx = Context::Child(Context::Background());
    ctx.Set(audit::AuditContextPtr(event));
    CHECK(tokens->AuthenticateToken(ctx, token).ok());
    return event->Snapshot(audit::Stage::kResponseComplete).annotations;
  };

  CHECK(annotations().empty());
  accounts.clock.Advance(103s);
  const auto told = annotations();

  REQUIRE(told.size() == 1);
  CHECK(told.begin()->first == "authentication.k8s.io/stale-token");
  CHECK(told.begin()->second ==
        "subject: system:serviceaccount:myns:mysvcacct, seconds after warning threshold: 3");
  CHECK(metrics->Counters({.name = "serviceaccount_stale_tokens_total"}).With({}).value() == 1);
  CHECK(metrics->Counters({.name = "serviceaccount_valid_tokens_total"}).With({}).value() == 1);
}

TEST_CASE("authn: keys of service accounts that cannot be used are refused", "[authn]") {
  CHECK(CheckServiceAccountKeys(EcPems().public_key) == Status());
  CHECK(CheckServiceAccountKeys(EcPems().private_key) == Status());
  CHECK(CheckServiceAccountKeys("").reason() == Reason::kInvalid);
  const std::shared_ptr<EVP_PKEY> ed(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free);
  CHECK(CheckServiceAccountKeys(PemOf(ed.get(), false)).message() ==
        "keys of service accounts must be RSA or EC");
  const auto source = std::make_shared<Variable<std::string>>(EcPems().public_key);
  CHECK(NewServiceAccountTokens({.keys = source}).status().message() ==
        "tokens of service accounts need an issuer");
}

}  // namespace apiserver::inline v0::authn
