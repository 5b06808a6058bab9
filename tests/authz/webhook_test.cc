#include "apiserver/authz/webhook.h"

#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/auth/look_up.h"
#include "apiserver/client/tracing.h"
#include "authz/asking.h"
#include "base/kept_spans.h"
#include "base/manual.h"
#include "client/fake_http_client.h"

namespace apiserver::inline v0::authz {
namespace {

using asking::User;
using std::chrono::seconds;
using testing::FakeHttpClient;

http::ClientResponse Reviewed(const std::string& status, int code = 200) {
  return {
      .code = code,
      .body = R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":)" +
              status + "}"};
}

// A webhook that answers what `answer` says, and an authorizer that asks it.
struct ReviewFixture {
  explicit ReviewFixture(WebhookAuthorizerOptions options = {}) {
    options.webhook.client = client::WithTracing(http);
    options.webhook.url = "https://authz.test/authorize";
    options.webhook.executor = &executor;
    options.webhook.clock = &clock;
    options.metrics = registry.get();
    authorizer = NewWebhookAuthorizer(options).value();
  }

  void Advance(std::chrono::nanoseconds by) {
    clock.Advance(by);
    executor.Advance(by);
  }
  // As a filter would: again when what it waits for is there.
  std::string Ask(const auth::Attributes& asked, trace::Span span = {}) {
    Context ctx = Context::Child(Context::Background()).WithMayBlock(false);
    const auto waiting = std::make_shared<auth::Waiting>();
    ctx.Set(auth::WaitingPtr(waiting));
    ctx.Set(std::move(span));
    auto verdict = authorizer->Authorize(ctx, asked);
    while (verdict.status().reason() == Reason::kWouldBlock) {
      for (int i = 0; i < 100 && waiting->pending(); ++i) Advance(seconds(2));
      REQUIRE(!waiting->pending());
      verdict = authorizer->Authorize(ctx, asked);
    }
    if (!verdict.ok()) return "error: " + verdict.status().ToString();
    std::string text = verdict->decision == auth::Decision::kAllow  ? "allow"
                       : verdict->decision == auth::Decision::kDeny ? "deny"
                                                                    : "no opinion";
    return text + (verdict->reason.empty() ? "" : ": " + verdict->reason);
  }
  std::size_t calls() const { return http->requests.size(); }

  Result<http::ClientResponse> answer = Reviewed(R"({"allowed":true})");
  std::shared_ptr<FakeHttpClient> http =
      std::make_shared<FakeHttpClient>([this](const client::HttpRequest&) { return answer; });
  testing::ManualExecutor executor;
  testing::ManualClock clock;
  std::unique_ptr<metrics::Registry> registry = metrics::NewRegistry();
  std::unique_ptr<auth::Authorizer> authorizer;
};

auth::Attributes PodsOf(const std::string& user) {
  return {.user = User(user),
          .verb = "get",
          .resource_request = true,
          .resource = "pods",
          .namespace_ = "kittensandponies"};
}

// TestV1Webhook.
TEST_CASE("authz: a review says who asks for what", "[authz]") {
  const std::string head =
      R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1",)"
      R"("metadata":{},"spec":)";
  const std::string tail = R"(,"status":{"allowed":false}})";
  ReviewFixture fixture;
  const auto body = [&](const auth::Attributes& asked) {
    CHECK(fixture.Ask(asked) == "allow");
    return fixture.http->requests.back().body;
  };
  CHECK(body({.user = User("")}) == head + R"({"nonResourceAttributes":{}})" + tail);
  CHECK(body({.user = User("jane")}) ==
        head + R"({"nonResourceAttributes":{},"user":"jane"})" + tail);
  CHECK(body({.user = User("jane"), .verb = "get", .path = "/metrics"}) ==
        head + R"({"nonResourceAttributes":{"path":"/metrics","verb":"get"},"user":"jane"})" +
            tail);
  auth::UserInfo jane = {.name = "jane", .uid = "1", .groups = {"group1", "group2"}};
  jane.extra = {{"example.com/scope", {"a", "b"}}, {"x", {}}};
  CHECK(
      body({.user = std::make_shared<const auth::UserInfo>(jane),
            .verb = "GET",
            .resource_request = true,
            .group = "group3",
            .version = "v7beta3",
            .resource = "pods",
            .subresource = "proxy",
            .namespace_ = "kittensandponies",
            .name = "my-pod",
            .path = "/foo"}) ==
      head +
          R"({"resourceAttributes":{"namespace":"kittensandponies","verb":"GET","group":"group3",)"
          R"("version":"v7beta3","resource":"pods","subresource":"proxy","name":"my-pod"},)"
          R"("user":"jane","groups":["group1","group2"],)"
          R"("extra":{"example.com/scope":["a","b"],"x":[]},"uid":"1"})" +
          tail);
  CHECK(fixture.http->requests.back().url == "https://authz.test/authorize");
}

TEST_CASE("authz: a review of v1beta1 names groups as that does", "[authz]") {
  ReviewFixture fixture({.version = "v1beta1"});
  fixture.answer = http::ClientResponse{
      .code = 200,
      .body = R"({"apiVersion":"authorization.k8s.io/v1beta1","kind":"SubjectAccessReview",)"
              R"("status":{"allowed":true}})"};
  CHECK(fixture.Ask({.user = User("jane", {"g"})}) == "allow");
  CHECK(fixture.http->requests.back().body ==
        R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1beta1",)"
        R"("metadata":{},"spec":{"nonResourceAttributes":{},"user":"jane","group":["g"]},)"
        R"("status":{"allowed":false}})");
}

// Test_resourceAttributesFrom.
TEST_CASE("authz: a review has the requirements of selectors that it can say", "[authz]") {
  ReviewFixture fixture;
  const auto attributes = [&](std::string_view fields, std::string_view labels) {
    CHECK(fixture.Ask({.user = User(""),
                       .resource_request = true,
                       .field_selector = fields,
                       .label_selector = labels}) == "allow");
    const std::string& body = fixture.http->requests.back().body;
    const std::string before = R"("spec":{"resourceAttributes":{)";
    const std::size_t begin = body.find(before) + before.size();
    return body.substr(begin, body.find(R"(}},"status")") - begin);
  };
  CHECK(attributes("foo=bar,one==two", "") ==
        R"("fieldSelector":{"requirements":[{"key":"foo","operator":"In","values":["bar"]},)"
        R"({"key":"one","operator":"In","values":["two"]}]})");
  CHECK(attributes("foo!=bar", "") ==
        R"("fieldSelector":{"requirements":[{"key":"foo","operator":"NotIn","values":["bar"]}]})");
  CHECK(attributes("", "foo in (bar,baz), one=two, apple==banana") ==
        R"("labelSelector":{"requirements":[{"key":"apple","operator":"In","values":["banana"]},)"
        R"({"key":"foo","operator":"In","values":["bar","baz"]},)"
        R"({"key":"one","operator":"In","values":["two"]}]})");
  CHECK(attributes("", "foo notin (bar,baz), one!=two") ==
        R"("labelSelector":{"requirements":[)"
        R"({"key":"foo","operator":"NotIn","values":["bar","baz"]},)"
        R"({"key":"one","operator":"NotIn","values":["two"]}]})");
  CHECK(attributes("", "foo, !one") ==
        R"("labelSelector":{"requirements":[{"key":"foo","operator":"Exists"},)"
        R"({"key":"one","operator":"DoesNotExist"}]})");
  CHECK(attributes("", "foo != bar, apple > 1") ==
        R"("labelSelector":{"requirements":[{"key":"foo","operator":"NotIn","values":["bar"]}]})");
  CHECK(attributes("", "apple > 1").empty());
  CHECK(attributes("not a selector", "a in (").empty());
}

// TestV1WebhookCache.
TEST_CASE("authz: answers are kept, errors and questions of great length are not", "[authz]") {
  const std::string v(2000, 'v');
  auth::Attributes alice_at_length = PodsOf("alice");
  alice_at_length.verb = alice_at_length.group = alice_at_length.version = v;
  alice_at_length.resource = alice_at_length.name = v;
  auth::Attributes bob_at_length = alice_at_length;
  bob_at_length.user = User("bob");
  struct Case {
    std::string name;
    auth::Attributes asked;
    bool allow;
    int code;
    std::string answer;
    std::size_t calls;
  };
  const std::vector<Case> cases = {
      {"server errors retry", PodsOf("alice"), false, 500, "error", 5},
      {"429s retry", PodsOf("alice"), false, 429, "error", 5},
      {"404 doesnt retry", PodsOf("alice"), false, 404, "error", 1},
      {"403 doesnt retry", PodsOf("alice"), false, 403, "error", 1},
      {"401 doesnt retry", PodsOf("alice"), false, 401, "error", 1},
      {"alice successful request", PodsOf("alice"), true, 200, "allow", 1},
      {"alice cached request", PodsOf("alice"), false, 500, "allow", 0},
      {"bob failed request", PodsOf("bob"), false, 500, "error", 5},
      {"bob unauthorized request", PodsOf("bob"), false, 200, "no opinion", 1},
      {"bob unauthorized cached request", PodsOf("bob"), false, 500, "no opinion", 0},
      {"ridiculous unauthorized request", bob_at_length, false, 200, "no opinion", 1},
      {"ridiculous unauthorized request again", bob_at_length, false, 200, "no opinion", 1},
      {"ridiculous authorized request", alice_at_length, true, 200, "allow", 1},
      {"ridiculous authorized request again", alice_at_length, true, 200, "allow", 1},
  };
  ReviewFixture fixture(
      {.authorized_ttl = std::chrono::hours(2400), .unauthorized_ttl = std::chrono::hours(2400)});
  for (const auto& each : cases) {
    INFO(each.name);
    const std::size_t before = fixture.calls();
    fixture.answer =
        Reviewed(each.allow ? R"({"allowed":true})" : R"({"allowed":false})", each.code);
    CHECK(fixture.Ask(each.asked).substr(0, each.answer.size()) == each.answer);
    CHECK(fixture.calls() - before == each.calls);
  }
}

TEST_CASE("authz: a yes and a no hold as long as their options say", "[authz]") {
  ReviewFixture fixture({.authorized_ttl = seconds(10), .unauthorized_ttl = seconds(3)});
  fixture.Ask(PodsOf("alice"));
  fixture.answer = Reviewed(R"({"allowed":false})");
  fixture.Ask(PodsOf("bob"));
  fixture.Advance(seconds(4));
  CHECK(fixture.Ask(PodsOf("alice")) == "allow");
  CHECK(fixture.calls() == 2);
  CHECK(fixture.Ask(PodsOf("bob")) == "no opinion");
  CHECK(fixture.calls() == 3);
  fixture.Advance(seconds(6));
  CHECK(fixture.Ask(PodsOf("alice")) == "no opinion");
  CHECK(fixture.calls() == 4);
}

TEST_CASE("authz: what a review's status decides", "[authz]") {
  const auto decided = [](const std::string& status) {
    ReviewFixture fixture;
    fixture.answer = Reviewed(status);
    return fixture.Ask(PodsOf("alice"));
  };
  CHECK(decided(R"({"allowed":true,"reason":"so"})") == "allow: so");
  CHECK(decided(R"({"allowed":false,"reason":"hm"})") == "no opinion: hm");
  CHECK(decided(R"({"allowed":false,"denied":true,"reason":"no"})") == "deny: no");
  CHECK(decided(R"({"allowed":true,"denied":true})") ==
        "deny: webhook subject access review returned both allow and deny response");
  CHECK(decided("null") == "no opinion");
  CHECK(decided(R"({"allowed":null,"evaluationError":"x"})") == "no opinion");
}

TEST_CASE("authz: an answer that is no review allows nothing", "[authz]") {
  for (const std::string body :
       {"", "nope", "[]", "true", R"({"status":true})", R"({"status":{"allowed":"true"}})",
        R"({"status":{"allowed":1}})", R"({"status":{"allowed":true,"denied":"x"}})",
        R"({"status":{"allowed":true,"reason":{}}})",
        R"({"kind":"Status","status":{"allowed":true}})",
        R"({"apiVersion":"authorization.k8s.io/v1beta1","status":{"allowed":true}})"}) {
    INFO(body);
    ReviewFixture fixture;
    fixture.answer = http::ClientResponse{.code = 200, .body = body};
    CHECK(fixture.Ask(PodsOf("alice"))
              .starts_with("error: InternalError: the authorization webhook answered "));
    CHECK(fixture.calls() == 1);
  }
  ReviewFixture bare;
  bare.answer = http::ClientResponse{.code = 200, .body = R"({"status":{"allowed":true}})"};
  CHECK(bare.Ask(PodsOf("alice")) == "allow");
  ReviewFixture redirected;
  redirected.answer = Reviewed(R"({"allowed":true})", 302);
  CHECK(redirected.Ask(PodsOf("alice")).starts_with("error: InternalError: "));
}

TEST_CASE("authz: a webhook that cannot be asked is an error, or a no if so configured",
          "[authz]") {
  ReviewFixture open;
  open.answer = Status(Reason::kServiceUnavailable, "refused");
  CHECK(open.Ask(PodsOf("alice")) == "error: InternalError: refused");
  ReviewFixture closed({.decision_on_error = auth::Decision::kDeny});
  closed.answer = Status(Reason::kServiceUnavailable, "refused");
  CHECK(closed.Ask(PodsOf("alice")) == "deny: the authorization webhook could not be asked");
}

TEST_CASE("authz: a review stands in the trace of who asks for it first", "[authz]") {
  ReviewFixture fixture;
  const auto kept = std::make_shared<testing::KeptSpans>();
  const auto tracer = testing::KeptSpans::Tracer(kept);

  CHECK(fixture.Ask(PodsOf("ann"), tracer->StartRoot("first")) == "allow");
  CHECK(fixture.Ask(PodsOf("ann"), tracer->StartRoot("second")) == "allow");

  const auto spans = kept->all();
  CHECK(testing::TreeOf(spans) ==
        std::vector<std::string>{"Call authorization webhook < first",
                                 "HTTP POST < Call authorization webhook < first", "first",
                                 "second"});
  REQUIRE(fixture.calls() == 1);
  CHECK(fixture.http->requests[0].headers.Get("traceparent") ==
        trace::FormatTraceparent(testing::SpanNamed(spans, "HTTP POST").context));
}

TEST_CASE("authz: an earlier answer is used while the webhook fails, if asked for", "[authz]") {
  ReviewFixture fixture({.stale_for = seconds(60)});
  CHECK(fixture.Ask(PodsOf("alice")) == "allow");
  fixture.answer = Status(Reason::kServiceUnavailable, "refused");
  fixture.Advance(seconds(20));
  CHECK(fixture.Ask(PodsOf("alice")) == "allow");
  CHECK(fixture.calls() == 2);  // It was asked all the same.
  CHECK(fixture.Ask(PodsOf("bob")) == "error: InternalError: refused");
  fixture.Advance(seconds(51));
  CHECK(fixture.Ask(PodsOf("alice")) == "error: InternalError: refused");
  fixture.answer = Reviewed(R"({"allowed":false})");
  CHECK(fixture.Ask(PodsOf("alice")) == "no opinion");
}

TEST_CASE("authz: requests that ask the same at the same time share a review", "[authz]") {
  ReviewFixture fixture;
  const auto held = std::make_shared<FakeHttpClient>();
  const auto authorizer = NewWebhookAuthorizer({.webhook = {.client = held,
                                                            .url = "https://authz.test",
                                                            .executor = &fixture.executor,
                                                            .clock = &fixture.clock}})
                              .value();
  std::vector<std::shared_ptr<auth::Waiting>> waiting;
  for (int i = 0; i < 3; ++i) {
    Context ctx = Context::Child(Context::Background()).WithMayBlock(false);
    waiting.push_back(std::make_shared<auth::Waiting>());
    ctx.Set(auth::WaitingPtr(waiting.back()));
    CHECK(authorizer->Authorize(ctx, PodsOf("alice")).status().reason() == Reason::kWouldBlock);
    ctx.Cancel(Status(Reason::kTimeout, "gone"));  // The others still want the answer.
  }
  REQUIRE(held->requests.size() == 1);
  held->End(Reviewed(R"({"allowed":true})"));
  for (const auto& each : waiting) CHECK(!each->pending());
  CHECK(authorizer->Authorize(Context::Background(), PodsOf("alice"))->decision ==
        auth::Decision::kAllow);
}

TEST_CASE("authz: a limit makes questions wait, and fail if they would wait too long", "[authz]") {
  ReviewFixture fixture(
      {.authorized_ttl = seconds(0), .timeout = seconds(2), .qps = 1, .burst = 2});
  const auto asked = [&](const std::string& user) {
    Context ctx = Context::Child(Context::Background()).WithMayBlock(false);
    ctx.Set(std::make_shared<auth::Waiting>());
    return fixture.authorizer->Authorize(ctx, PodsOf(user)).status().reason();
  };
  for (const std::string user : {"a", "b", "c", "d"}) asked(user);
  CHECK(fixture.calls() == 2);
  CHECK(asked("e") == Reason::kInternalError);  // 3 s are more than it may wait.
  fixture.Advance(std::chrono::milliseconds(1100));
  CHECK(fixture.calls() == 3);
  fixture.Advance(seconds(1));
  CHECK(fixture.calls() == 4);
}

// TestWebhookMetrics, TestRecordRequestTotal.
TEST_CASE("authz: attempts are counted by code, or by name and result", "[authz]") {
  ReviewFixture delegated;
  delegated.answer = Reviewed("{}", 500);
  delegated.Ask(PodsOf("alice"));
  delegated.answer = Status(Reason::kServiceUnavailable, "refused");
  delegated.Ask(PodsOf("alice"));
  const std::string text = delegated.registry->Serialize();
  CHECK(text.find("apiserver_delegated_authz_request_total{code=\"500\"} 5\n") !=
        std::string::npos);
  CHECK(text.find("apiserver_delegated_authz_request_total{code=\"<error>\"} 1\n") !=
        std::string::npos);
  CHECK(text.find("apiserver_delegated_authz_request_duration_seconds_count{code=\"500\"} 5\n") !=
        std::string::npos);

  ReviewFixture named({.name = "wh1"});
  named.Ask(PodsOf("alice"));
  named.answer = Status(Reason::kTimeout, "late");
  named.Ask(PodsOf("bob"));
  const std::string by_name = named.registry->Serialize();
  for (const std::string line :
       {"apiserver_authorization_webhook_evaluations_total{name=\"wh1\",result=\"success\"} 1\n",
        "apiserver_authorization_webhook_evaluations_total{name=\"wh1\",result=\"timeout\"} 1\n",
        "apiserver_authorization_webhook_evaluations_fail_open_total{name=\"wh1\",result="
        "\"timeout\"} 1\n"}) {
    INFO(by_name);
    CHECK(by_name.find(line) != std::string::npos);
  }
}

TEST_CASE("authz: a webhook authorizer's options are checked", "[authz]") {
  CHECK(NewWebhookAuthorizer({.version = "v2"}).status() ==
        Status(Reason::kInvalid,
               "unsupported webhook authorizer version \"v2\", supported versions are \"v1\", "
               "\"v1beta1\""));
  CHECK(NewWebhookAuthorizer({}).status().message() ==
        "a webhook authorizer needs a client, a URL and an executor");
  CHECK(NewWebhookRules()->RulesFor(Context::Background(), User("x"), "").error ==
        "webhook authorizer does not support user rule resolution");
}

}  // namespace
TEST_CASE("authz: a webhook is asked only about what meets its conditions", "[authz]") {
  WebhookAuthorizerOptions options;
  options.match_conditions = {"request.user != 'alice'",
                              "request.user != 'bob' || request.nonResourceAttributes.path == '/'"};
  {
    ReviewFixture fixture(options);
    CHECK(fixture.Ask(PodsOf("alice")) == "no opinion");
    CHECK(fixture.calls() == 0);
    CHECK(fixture.Ask(PodsOf("carol")) == "allow");
    CHECK(fixture.calls() == 1);
    const std::string error = fixture.Ask(PodsOf("bob"));
    INFO(error);
    CHECK(error.starts_with("error: "));
    CHECK(error.find("resulted in error: no such key: nonResourceAttributes") != error.npos);
    CHECK(fixture.calls() == 1);
  }
  options.decision_on_error = auth::Decision::kDeny;
  ReviewFixture denying(options);
  CHECK(denying.Ask(PodsOf("bob")).starts_with("deny: cel evaluation error: expression "));
  options.match_conditions = {"request.nothing"};
  CHECK_FALSE(NewWebhookAuthorizer(options).ok());
}

}  // namespace apiserver::inline v0::authz
