#include "apiserver/authn/token_review.h"

#include <catch2/catch.hpp>
#include <map>

#include "apiserver/auth/audiences.h"
#include "apiserver/auth/look_up.h"
#include "authn/fake_http_client.h"
#include "authn/fakes.h"

namespace apiserver::inline v0::authn {
namespace {

using Names = std::vector<std::string>;

class SteppedClock final : public Clock {
 public:
  Monotonic Now() const override { return Monotonic() + elapsed; }
  Wall WallNow() const override { return Wall(); }
  std::chrono::nanoseconds elapsed{0};
};

const std::string kJaneReview = R"({"authenticated":true,"user":{"username":"jane"}})";

struct Reviewing {
  explicit Reviewing(TokenReviewOptions options = {}) {
    options.client = client;
    options.url = "https://cluster/apis/authentication.k8s.io/v1/tokenreviews";
    options.clock = &clock;
    options.metrics = metrics.get();
    tokens = NewTokenReview(std::move(options)).value();
  }

  Answer Ask(const std::string& token, const Names* audiences = nullptr) const {
    Context ctx = Context::Child(Context::Background());
    if (audiences) ctx.Set(auth::Audiences{*audiences});
    return tokens->AuthenticateToken(ctx, token);
  }
  // With this status for an answer, if it is asked for.
  Answer AskFor(const std::string& status, const std::string& token = "t",
                const Names* audiences = nullptr) const {
    client->AnswerNext(Review(status));
    return Ask(token, audiences);
  }

  SteppedClock clock;
  std::unique_ptr<metrics::Registry> metrics = metrics::NewRegistry();
  std::shared_ptr<FakeHttpClient> client = std::make_shared<FakeHttpClient>();
  std::unique_ptr<auth::TokenAuthenticator> tokens;
};

bool Shows(const Reviewing& r, const std::string& line) {
  const std::string text = r.metrics->Serialize();
  INFO(text);
  return text.find(line + "\n") != std::string::npos;
}

// As a request has it that cannot wait, but can be asked again.
Context OfALoop() {
  Context ctx = Context::Child(Context::Background()).WithMayBlock(false);
  ctx.Set(std::make_shared<auth::Waiting>());
  return ctx;
}

}  // namespace

// TestV1WebhookTokenAuthenticator: successful response, unauthenticated
TEST_CASE("authn: a token review tells who bears the token", "[authn]") {
  Reviewing r;

  const Answer known =
      r.AskFor(R"({"authenticated":true,"user":{"username":"person@place.com","uid":"abcd-1234",)"
               R"("groups":["stuff-dev","main-eng"],"extra":{"foo":["bar","baz"]}}})",
               "my-s3cr3t-t0ken");
  const Answer unknown = r.AskFor(
      R"({"authenticated":false,"user":{"username":"garbage","groups":["not-used"]}})", "other");

  REQUIRE(known.ok());
  REQUIRE(known->has_value());
  CHECK(*known->value().user == auth::UserInfo{.name = "person@place.com",
                                               .uid = "abcd-1234",
                                               .groups = {"stuff-dev", "main-eng"},
                                               .extra = {{"foo", {"bar", "baz"}}}});
  REQUIRE(unknown.ok());
  CHECK_FALSE(unknown->has_value());
  const client::HttpRequest request = r.client->requests().front();
  CHECK(request.method == "POST");
  CHECK(request.url == "https://cluster/apis/authentication.k8s.io/v1/tokenreviews");
  CHECK(request.body ==
        R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{},)"
        R"("spec":{"token":"my-s3cr3t-t0ken"},"status":{"user":{}}})");
  CHECK(request.headers.Get("Content-Type") == "application/json");
  CHECK_FALSE(request.headers.Has("Authorization"));
  CHECK(request.timeout == std::chrono::seconds(10));
  CHECK(request.headers.Get("Accept") == "application/json");
}

// TestV1WebhookTokenAuthenticator: good audience, bad audiences, audience aware backend
TEST_CASE("authn: a token review counts for the audiences that are asked for", "[authn]") {
  struct Row {
    Names implicit;
    const Names* wanted;
    std::string audiences;  // Of the answer's status.
    bool known;
    Names accepted = {};
  };
  const Names api{"https://kubernetes.default.svc"};
  const Names other{"other"};
  const std::string says_api = R"(,"audiences":["https://kubernetes.default.svc"])";
  const Row rows[] = {
      {api, &api, "", true, api},
      {{"https://kubernetes.default.svc", "other"}, &api, "", true, api},
      // A webhook that knows no audiences.
      {api, &other, "", false},
      {api, &api, says_api, true, api},
      {{}, nullptr, says_api, true},
      {api, &api, R"(,"audiences":["other"])", false},
  };
  for (const Row& row : rows) {
    Reviewing r({.implicit_audiences = row.implicit});
    const Answer answer =
        r.AskFor(R"({"authenticated":true,"user":{"username":"somebody"})" + row.audiences + "}",
                 "t", row.wanted);
    REQUIRE(answer.ok());
    CHECK(answer->has_value() == row.known);
    if (row.known) CHECK(answer->value().audiences == row.accepted);
    const std::string body = r.client->requests().front().body;
    CHECK((body.find(R"("audiences":[")") != std::string::npos) == (row.wanted != nullptr));
  }
}

TEST_CASE("authn: an answer that is no review, or lies, is an error", "[authn]") {
  const auto asked = [](Result<http::ClientResponse> answer) {
    Reviewing r;
    r.client->AnswerNext(std::move(answer));
    const Answer found = r.Ask("t");
    CHECK(found.status().reason() == Reason::kInternalError);
    return std::string(found.status().message());
  };
  const std::string failed = "the token review's answer ";

  CHECK(asked(Status(Reason::kTimeout, "too slow")) == "the token review failed: too slow");
  CHECK(asked(http::ClientResponse{.code = 500, .body = "oops"})
            .starts_with("the token review failed: "));
  CHECK(asked(http::ClientResponse{.code = 302}).starts_with("the token review failed: "));
  CHECK(asked(http::ClientResponse{.code = 200, .body = "<html>"})
            .starts_with(failed + "is not JSON"));
  CHECK(asked(http::ClientResponse{.code = 200, .body = ""}).starts_with(failed + "is not JSON"));
  CHECK(asked(http::ClientResponse{.code = 200, .body = std::string(100'000, '[')})
            .starts_with(failed + "is not JSON"));
  CHECK(asked(http::ClientResponse{.code = 200, .body = "[]"}) ==
        failed + "is not of kind TokenReview of authentication.k8s.io");
  CHECK(asked(http::ClientResponse{
            .code = 200,
            .body = R"({"kind":"TokenReview","apiVersion":"evil/v1","status":)" + kJaneReview +
                    "}"}) == failed + "is not of kind TokenReview of authentication.k8s.io");
  CHECK(asked(Review(R"({"authenticated":true,"user":{"groups":["system:masters"]}})")) ==
        failed + "calls the token known, but names no user");
  CHECK(asked(Review(R"({"authenticated":true})")) ==
        failed + "calls the token known, but names no user");
}

TEST_CASE("authn: what is not clearly yes in a review is no", "[authn]") {
  for (const char* status :
       {"{}", "null", "[]", R"({"authenticated":"true","user":{"username":"jane"}})",
        R"({"authenticated":1,"user":{"username":"jane"}})",
        R"({"Authenticated":true,"user":{"username":"jane"}})"}) {
    INFO(status);
    Reviewing r;
    const Answer answer = r.AskFor(status);
    REQUIRE(answer.ok());
    CHECK_FALSE(answer->has_value());
  }
}

// TestCachedTokenAuthenticator
TEST_CASE("authn: what a review found is remembered for a while, errors are not", "[authn]") {
  Reviewing r;
  const auto calls = [&] { return r.client->requests().size(); };

  CHECK(r.AskFor(kJaneReview, "good")->has_value());
  CHECK(r.Ask("good")->has_value());
  CHECK_FALSE(r.AskFor(R"({"authenticated":false})", "bad")->has_value());
  CHECK_FALSE(r.Ask("bad")->has_value());
  CHECK(calls() == 2);

  r.clock.elapsed += std::chrono::milliseconds(9'999);
  CHECK(r.Ask("good")->has_value());
  CHECK(calls() == 2);
  r.clock.elapsed += std::chrono::milliseconds(1);
  CHECK(r.AskFor(kJaneReview, "good")->has_value());
  CHECK_FALSE(r.AskFor(R"({"authenticated":false})", "bad")->has_value());
  CHECK(calls() == 4);

  const Status expired(Reason::kUnauthorized, "expired");
  CHECK(r.AskFor(R"({"authenticated":false,"error":"expired"})", "old").status() == expired);
  CHECK(r.AskFor(R"({"authenticated":false,"error":"expired"})", "old").status() == expired);
  CHECK(calls() == 6);
}

// TestCachedTokenAuthenticatorWithAudiences
TEST_CASE("authn: a token is remembered for each set of audiences apart", "[authn]") {
  Reviewing r({.implicit_audiences = {"a", "b"}});
  const Names a{"a"}, b{"b"}, both{"a", "b"};
  const auto user = [&](const Names* audiences) {
    return r.Ask("t", audiences)->value().user->name;
  };
  for (const auto& [audiences, name] : std::vector<std::pair<const Names*, std::string>>{
           {nullptr, "none"}, {&a, "a"}, {&b, "b"}, {&both, "both"}}) {
    CHECK(r.AskFor(R"({"authenticated":true,"user":{"username":")" + name + "\"}}", "t", audiences)
              ->has_value());
  }

  CHECK(user(nullptr) == "none");
  CHECK(user(&a) == "a");
  CHECK(user(&b) == "b");
  CHECK(user(&both) == "both");
  CHECK(r.client->requests().size() == 4);
}

// TestSharedLookup
TEST_CASE("authn: whoever asks for a token under review waits for the same review", "[authn]") {
  Reviewing r;
  std::vector<std::shared_ptr<auth::Waiting>> waiting;
  const auto ask = [&](const std::shared_ptr<auth::Waiting>& mine) {
    Context ctx = Context::Child(Context::Background());
    ctx.Set(mine);
    return r.tokens->AuthenticateToken(ctx.WithMayBlock(false), "t");
  };
  for (int i = 0; i < 200; ++i) {
    waiting.push_back(std::make_shared<auth::Waiting>());
    CHECK(ask(waiting.back()).status().reason() == Reason::kWouldBlock);
  }
  CHECK(r.client->requests().size() == 1);

  r.client->Answer(Review(kJaneReview));

  for (const auto& mine : waiting) {
    CHECK_FALSE(mine->pending());
    CHECK(ask(mine)->value().user->name == "jane");
  }
  CHECK(r.client->requests().size() == 1);
  CHECK(Shows(r, R"(authentication_token_cache_fetch_total{status="ok"} 1)"));
  CHECK(Shows(r, R"(authentication_token_cache_request_total{status="miss"} 200)"));
}

TEST_CASE("authn: too many reviews under way refuse further tokens, not known ones", "[authn]") {
  Reviewing r({.in_flight_max = 2});
  const auto ask = [&](const std::string& token) {
    return r.tokens->AuthenticateToken(OfALoop(), token).status();
  };
  CHECK(r.AskFor(kJaneReview, "known")->has_value());
  CHECK(ask("a").reason() == Reason::kWouldBlock);
  CHECK(ask("b").reason() == Reason::kWouldBlock);

  const Status refused = ask("c");
  CHECK(refused.reason() == Reason::kTooManyRequests);
  CHECK(refused.details()->retry_after_seconds == 1);
  CHECK(ask("known").ok());
  CHECK(ask("a").reason() == Reason::kWouldBlock);

  r.client->Answer(Review(kJaneReview));
  CHECK(ask("c").reason() == Reason::kWouldBlock);
  r.client->Answer(Review(kJaneReview));
  r.client->Answer(Review(kJaneReview));
  CHECK(ask("c").ok());
}

// TestV1WebhookCacheAndRetry
TEST_CASE("authn: a review is tried again where that may help, for a while", "[authn]") {
  const auto pool = NewThreadPool({.name = "test", .threads = 1});
  const auto tries = [&](const std::vector<int>& codes, bool known) {
    Reviewing r({.timeout = std::chrono::hours(1),
                 .backoff = {.duration = std::chrono::milliseconds(1), .jitter = 0},
                 .executor = pool.get()});
    for (const int code : codes) {
      r.client->AnswerNext(code == 201 ? Review(kJaneReview) : http::ClientResponse{.code = code});
    }
    const Answer answer = r.Ask("t");
    CHECK(answer.ok() == known);
    return r.client->requests().size();
  };

  CHECK(tries({500, 500, 500, 500, 500}, false) == 5);
  CHECK(tries({429, 429, 429, 429, 429}, false) == 5);
  CHECK(tries({404}, false) == 1);
  CHECK(tries({201}, true) == 1);
  CHECK(tries({500, 429, 201}, true) == 3);
}

TEST_CASE("authn: token reviews are counted", "[authn]") {
  Reviewing r;

  (void)r.AskFor(kJaneReview, "a");
  (void)r.Ask("a");
  r.client->AnswerNext(http::ClientResponse{.code = 503});
  (void)r.Ask("b");
  r.client->AnswerNext(Status(Reason::kServiceUnavailable, "gone"));
  (void)r.Ask("b");

  CHECK(Shows(r, R"(authentication_token_cache_request_total{status="hit"} 1)"));
  CHECK(Shows(r, R"(authentication_token_cache_request_total{status="miss"} 3)"));
  CHECK(Shows(r, R"(authentication_token_cache_fetch_total{status="ok"} 1)"));
  CHECK(Shows(r, R"(authentication_token_cache_fetch_total{status="error"} 2)"));
  CHECK(Shows(r, R"(authentication_token_cache_active_fetch_count{status="in_flight"} 0)"));
  CHECK(Shows(r, R"(apiserver_delegated_authn_request_total{code="201"} 1)"));
  CHECK(Shows(r, R"(apiserver_delegated_authn_request_total{code="503"} 1)"));
  CHECK(Shows(r, R"(apiserver_delegated_authn_request_total{code="<error>"} 1)"));
}

TEST_CASE("authn: an answer that comes after the authenticator has gone goes nowhere", "[authn]") {
  Reviewing r;
  CHECK_FALSE(r.tokens->AuthenticateToken(OfALoop(), "t").ok());

  r.tokens.reset();
  r.client->Answer(Review(kJaneReview));

  CHECK(r.client->waiting() == 0);
}

TEST_CASE("authn: token reviews need a client, a server and a version that is known", "[authn]") {
  const auto client = std::make_shared<FakeHttpClient>();

  CHECK(NewTokenReview({.url = "https://x"}).status().reason() == Reason::kInvalid);
  CHECK(NewTokenReview({.client = client}).status().reason() == Reason::kInvalid);
  CHECK(
      NewTokenReview({.client = client, .url = "https://x", .version = "v2"}).status().message() ==
      R"(unsupported authentication webhook version "v2", supported versions are "v1", "v1beta1")");
}

}  // namespace apiserver::inline v0::authn
