#include "apiserver/client/webhook.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/meta/errors.h"
#include "base/manual.h"
#include "client/fake_http_client.h"

namespace apiserver::inline v0::client {
namespace {

using std::chrono::milliseconds;
using testing::FakeHttpClient;

http::ClientResponse Answered(int code, std::string body = "", http::Headers headers = {}) {
  return {.code = code, .headers = std::move(headers), .body = std::move(body)};
}

// A webhook whose pauses a test lets pass.
struct WebhookFixture {
  explicit WebhookFixture(FakeHttpClient::Answer answer, Backoff backoff = {.jitter = 0})
      : http(std::make_shared<FakeHttpClient>(std::move(answer))),
        webhook(
            {.client = http,
             .url = "https://hook.test/x",
             .headers = {{"X-A", "b"}},
             .backoff = backoff,
             .observe = [this](const WebhookAttempt& attempt) { codes.push_back(attempt.code); },
             .executor = &executor,
             .clock = &clock}) {}

  void Post(const Context& ctx = Context::Background()) {
    webhook.Post(ctx, "{}", [this](Result<http::ClientResponse> got) { result = std::move(got); });
  }
  void Advance(milliseconds by) {
    clock.Advance(by);
    executor.Advance(by);
  }
  // Posts, and lets all pauses pass.
  Result<http::ClientResponse> PostToTheEnd() {
    result.reset();
    Post();
    for (int i = 0; i < 100 && !result; ++i) Advance(std::chrono::seconds(10));
    REQUIRE(result);
    return *result;
  }

  testing::ManualExecutor executor;
  testing::ManualClock clock;
  std::shared_ptr<FakeHttpClient> http;
  std::vector<int> codes;
  std::optional<Result<http::ClientResponse>> result;
  Webhook webhook;
};

TEST_CASE("client: a webhook gets JSON and its answer comes back", "[client]") {
  WebhookFixture fixture([](const HttpRequest&) { return Answered(201, R"({"a":1})"); });
  fixture.Post();
  REQUIRE(fixture.result);
  REQUIRE(fixture.result->ok());
  CHECK((*fixture.result)->body == R"({"a":1})");
  REQUIRE(fixture.http->requests.size() == 1);
  const HttpRequest& request = fixture.http->requests[0];
  CHECK(request.method == "POST");
  CHECK(request.url == "https://hook.test/x");
  CHECK(request.body == "{}");
  CHECK(request.headers.Get("Content-Type") == "application/json");
  CHECK(request.headers.Get("X-A") == "b");
  CHECK(request.timeout == std::chrono::seconds(30));
  CHECK(fixture.codes == std::vector<int>{201});
}

// TestWithExponentialBackoff.
TEST_CASE("client: a webhook is asked again after 504 and 500, and not after 406", "[client]") {
  int count = 0;
  WebhookFixture fixture([&](const HttpRequest&) -> Result<http::ClientResponse> {
    switch (++count) {
      case 1:
        return Answered(504, R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                             R"("reason":"ServerTimeout","details":{"retryAfterSeconds":2},)"
                             R"("code":500,"message":"later"})");
      case 2:
        return Answered(500, R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                             R"("reason":"InternalError","code":500,"message":"nope"})");
      case 3:
        return Answered(406, "nope");
      default:
        return Answered(200, R"({"status":"OK"})");
    }
  });
  const auto refused = fixture.PostToTheEnd();
  CHECK(refused.status().reason() == Reason::kNotAcceptable);
  CHECK(count == 3);
  const auto answered = fixture.PostToTheEnd();
  REQUIRE(answered.ok());
  CHECK(answered->code == 200);
  CHECK(count == 4);
  CHECK(fixture.codes == std::vector<int>{504, 500, 406, 200});
}

TEST_CASE("client: which errors of a webhook are worth another attempt", "[client]") {
  struct Case {
    Result<http::ClientResponse> answer;
    bool again;
  };
  const std::vector<Case> cases = {
      {Answered(500), true},
      {Answered(501), true},
      {Answered(502), true},
      {Answered(503), false},
      {Answered(503, "", {{"Retry-After", "1"}}), true},
      {Answered(504), true},
      {Answered(429), true},
      {Answered(400), false},
      {Answered(401), false},
      {Answered(404), false},
      {Answered(302, "", {{"Location", "https://elsewhere.test"}}), false},
      {ConnectionReset("reset"), true},
      {Status(Reason::kServiceUnavailable, "refused"), false},
      {Status(Reason::kTimeout, "context deadline exceeded"), false},
      {Status(Reason::kRequestEntityTooLarge, "long"), false},
      {Status(Reason::kInvalid, "url"), false},
  };
  for (const auto& each : cases) {
    INFO(each.answer.status().ToString() << (each.answer.ok() ? each.answer->code : 0));
    WebhookFixture fixture([&](const HttpRequest&) { return each.answer; });
    CHECK(!fixture.PostToTheEnd().ok());
    CHECK(fixture.http->requests.size() == (each.again ? 5 : 1));
  }
}

// TestWithExponentialBackoffWithRetryExhaustedWhileContextIsNotCanceled,
// TestGenericWebhookWithExponentialBackoff.
TEST_CASE("client: a webhook has five attempts a call, with pauses that grow", "[client]") {
  WebhookFixture fixture([](const HttpRequest&) { return Answered(500, "broken"); });
  fixture.Post();
  for (const int pause : {500, 750, 1125, 1687}) {
    const std::size_t before = fixture.http->requests.size();
    fixture.Advance(milliseconds(pause - 1));
    CHECK(fixture.http->requests.size() == before);
    CHECK(!fixture.result);
    fixture.Advance(milliseconds(2));
    CHECK(fixture.http->requests.size() == before + 1);
  }
  REQUIRE(fixture.result);
  CHECK(fixture.result->status().reason() == Reason::kInternalError);
  CHECK(fixture.http->requests.size() == 5);
  CHECK(!fixture.PostToTheEnd().ok());
  CHECK(fixture.http->requests.size() == 10);
}

TEST_CASE("client: a pause is as long as Retry-After wants, up to a limit", "[client]") {
  const auto second_after = [](const std::string& seconds, milliseconds pause) {
    WebhookFixture fixture([&](const HttpRequest&) {
      return Answered(429, "", {{"Retry-After", seconds}});
    });
    fixture.Post();
    fixture.Advance(pause - milliseconds(1));
    const std::size_t before = fixture.http->requests.size();
    fixture.Advance(milliseconds(1));
    return before == 1 && fixture.http->requests.size() == 2;
  };
  CHECK(second_after("3", milliseconds(3000)));
  CHECK(second_after("86400", milliseconds(30'000)));
  CHECK(second_after("-5", milliseconds(500)));
  CHECK(second_after("Tue, 29 Oct 2030 16:56:32 GMT", milliseconds(500)));
}

TEST_CASE("client: jitter lengthens a pause by at most its share", "[client]") {
  const auto random = NewSeededRandom(1);
  bool differ = false;
  std::chrono::nanoseconds first{0};
  for (int i = 0; i < 1000; ++i) {
    const auto pause = PauseAfter({}, 1, *random);
    CHECK(pause >= milliseconds(750));
    CHECK(pause < milliseconds(900));
    if (i == 0) first = pause;
    differ = differ || pause != first;
  }
  CHECK(differ);
}

// TestWithExponentialBackoffContextIsAlreadyCanceled, TestWithExponentialBackoffParametersNotSet.
TEST_CASE("client: a webhook is not asked for work that is over, or with no attempts", "[client]") {
  const Context ctx = Context::Child(Context::Background());
  ctx.Cancel(Status(Reason::kTimeout, "context canceled"));
  WebhookFixture fixture([](const HttpRequest&) { return Answered(200); });
  fixture.Post(ctx);
  REQUIRE(fixture.result);
  CHECK(fixture.result->status() ==
        Status(Reason::kTimeout, "webhook call failed: context canceled"));
  CHECK(fixture.http->requests.empty());

  WebhookFixture none([](const HttpRequest&) { return Answered(200); }, {.steps = 0});
  CHECK(none.PostToTheEnd().status() ==
        Status(Reason::kTimeout, "webhook call failed: timed out waiting for the condition"));
  CHECK(none.http->requests.empty());
}

// TestWithExponentialBackoffWebhookErrorIsMostImportant.
TEST_CASE("client: work that ends in a pause gets the webhook's last error", "[client]") {
  WebhookFixture fixture([](const HttpRequest&) { return Answered(500, "broken"); });
  const Context ctx = Context::Child(Context::Background());
  fixture.Post(ctx);
  CHECK(!fixture.result);
  ctx.Cancel(Status(Reason::kTimeout, "context canceled"));
  CHECK(!fixture.result);  // Not on the thread that cancels.
  fixture.executor.Drain();
  REQUIRE(fixture.result);
  CHECK(fixture.result->status().reason() == Reason::kInternalError);
  fixture.Advance(std::chrono::seconds(60));
  CHECK(fixture.http->requests.size() == 1);
}

TEST_CASE("client: no pause is begun that the deadline would cut short", "[client]") {
  WebhookFixture fixture([](const HttpRequest&) { return Answered(500, "broken"); });
  fixture.Post(Context::Child(Context::Background(), fixture.clock.Now() + milliseconds(1200)));
  CHECK(!fixture.result);
  fixture.Advance(milliseconds(500));
  REQUIRE(fixture.result);  // 750 ms more would be too late.
  CHECK(fixture.http->requests.size() == 2);
}

TEST_CASE("client: a call that its executor forgets is answered", "[client]") {
  std::optional<Status> status;
  {
    testing::ManualExecutor executor;
    const Webhook webhook({.client = std::make_shared<FakeHttpClient>(
                               [](const HttpRequest&) { return Answered(500); }),
                           .url = "https://hook.test",
                           .executor = &executor});
    webhook.Post(Context::Background(), "{}",
                 [&](Result<http::ClientResponse> got) { status = got.status(); });
    CHECK(!status);
  }
  REQUIRE(status);
  CHECK(*status == Status(Reason::kServiceUnavailable, "webhook call failed: shutting down"));
}

}  // namespace
TEST_CASE(
    "client: an answer that does not stand the check is the call's error, and not asked again",
    "[client]") {
  WebhookFixture fixture([](const client::HttpRequest&) { return Answered(200, "nonsense"); });
  std::vector<WebhookAttempt> attempts;
  const Webhook webhook({.client = fixture.http,
                         .url = "https://hook.test/x",
                         .check =
                             [](const http::ClientResponse& answer) {
                               return Status(Reason::kInternalError, "what is " + answer.body);
                             },
                         .observe = [&](const WebhookAttempt& each) { attempts.push_back(each); },
                         .executor = &fixture.executor,
                         .clock = &fixture.clock});
  std::optional<Result<http::ClientResponse>> got;
  webhook.Post(Context::Background(), "{}",
               [&](Result<http::ClientResponse> answer) { got = std::move(answer); });
  REQUIRE(got);
  CHECK(got->status() == Status(Reason::kInternalError, "what is nonsense"));
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].code == 200);
  CHECK(attempts[0].error == got->status());
  CHECK(fixture.http->requests.size() == 1);
}

}  // namespace apiserver::inline v0::client
