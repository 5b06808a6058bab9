// How webhooks are called: what is no answer, how long it may take, which client asks; and how a
// configuration is read.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/request/latency.h"
#include "apiserver/testing/server/fake_clock.h"
#include "webhook_fixture.h"

using namespace apiserver;  // NOLINT: tests only.
using namespace apiserver::testing;
using admission::Webhook;
using admission::WebhookType;

// Row 5 of docs/security.md, CVE-2020-8561; webhooks that answer by a redirect, too much,
// compressed or not at all.
TEST_CASE("webhook: an answer that is no answer fails the call", "[admission]") {
  struct Odd {
    const char* name;
    Result<http::ClientResponse> response;
    const char* error;
  };
  const Odd cases[] = {
      {"redirect", http::ClientResponse{.code = 302, .headers = {{"Location", "http://10.0.0.1/"}}},
       "failed to call webhook: the server responded with the status code 302"},
      {"too long",
       Status(Reason::kRequestEntityTooLarge, "the answer is longer than 3145728 bytes"),
       "the answer is longer than 3145728 bytes"},
      {"never ends", Status(Reason::kTimeout, "it took too long"),
       "Post \"https://webhook.test/odd?timeout=10s\": context deadline exceeded"},
      {"empty", http::ClientResponse{.code = 200, .headers = {{"Content-Type", "text/html"}}},
       "0-length response with status code: 200 and content type: text/html"},
      {"compressed",
       http::ClientResponse{
           .code = 200, .headers = {{"Content-Encoding", "gzip"}}, .body = "\x1f\x8b"},
       "the answer has Content-Encoding gzip"},
      {"not found", http::ClientResponse{.code = 404, .body = "404 page not found"},
       "the server could not find the requested resource"}};
  for (const Odd& test : cases) {
    INFO(test.name);
    Webhooks webhooks({WebhookAt("odd", "odd"), Mutating(WebhookAt("odd", "odd"))});
    webhooks.servers.Handle("/odd", [&](const client::HttpRequest&) { return test.response; });
    WidgetRequest request;
    const Status status = webhooks.Run(request);
    CHECK(status.code() == 500);
    CHECK(std::string(status.message()).find(test.error) != std::string::npos);
  }
}

namespace {

// All that is logged, at every level.
class Everything final : public LogSink {
 public:
  bool Enabled(LogLevel) const override { return true; }
  void Write(LogLevel, std::string_view message, std::span<const LogField> fields) override {
    auto text = text_.Lock();
    text->append(message).push_back('\n');
    for (const LogField& field : fields) text->append(field.value).push_back('\n');
  }
  std::string text() const { return *text_.Lock(); }

 private:
  mutable Guarded<std::string> text_;
};

}  // namespace

// Row 5 of docs/security.md, CVE-2020-8561: whoever may make webhooks reads through them what the
// server alone can reach, in errors and in logs.
TEST_CASE("webhook: what stands in a redirect or an error page is told to nobody", "[admission]") {
  const std::string secret = "the-metadata-servers-token";
  struct Page {
    int code;
    const char* type;
  };
  for (const Page& page :
       {Page{301, "text/plain"}, Page{302, "text/html"}, Page{303, "text/plain"},
        Page{307, "application/json"}, Page{308, "text/plain"}, Page{200, "text/html"},
        Page{200, "application/json"}, Page{401, "application/json"}, Page{404, "text/plain"},
        Page{500, "application/octet-stream"}, Page{503, "text/plain"}}) {
    for (const bool fail_open : {false, true}) {
      CAPTURE(page.code, page.type, fail_open);
      Everything log;
      Webhook webhook = Mutating(WebhookAt("page", "page"));
      webhook.fail_open = fail_open;
      Webhooks webhooks({webhook}, RealClock(), log);
      webhooks.servers.Handle("/page", [&](const client::HttpRequest&) {
        return http::ClientResponse{.code = page.code,
                                    .headers = {{"Content-Type", page.type},
                                                {"Location", "http://169.254.169.254/" + secret}},
                                    .body = secret + std::string(1 << 20, 'x')};
      });
      WidgetRequest request;
      const Status status = webhooks.Run(request);
      CHECK(status.ok() == fail_open);
      const std::string told = status.ToString() + log.text();
      CHECK(told.find(secret) == std::string::npos);
      CHECK(told.size() < 4096);
      CHECK(log.text().find("failing") != std::string::npos);
    }
  }
}

TEST_CASE("webhook: no call takes longer than the request may", "[admission]") {
  FakeClock clock;
  Webhooks webhooks({WebhookAt("allow", "allow")}, clock);
  WidgetRequest request;
  request.ctx =
      Context::Child(Context::Background(), clock.Now() + std::chrono::milliseconds(3500));
  CHECK(webhooks.Run(request).ok());
  const auto sent = webhooks.servers.requests();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].timeout == std::chrono::milliseconds(3500));
  CHECK(sent[0].url == "https://webhook.test/allow?timeout=4s");
  CHECK(sent[0].headers.Get("Content-Type") == "application/json");
}

TEST_CASE("webhook: how long webhooks took is told apart from the request's own time",
          "[admission]") {
  FakeClock clock;
  Webhooks webhooks({Mutating(WebhookAt("first", "first")), Mutating(WebhookAt("second", "second")),
                     WebhookAt("third", "first"), WebhookAt("fourth", "second")},
                    clock);
  const auto take = [&](const std::string& path, std::chrono::seconds time) {
    webhooks.servers.Handle(path, [&clock, time](const client::HttpRequest& sent) {
      clock.Advance(time);
      return FakeWebhookServers::Review(sent, R"("allowed":true)");
    });
  };
  take("/first", std::chrono::seconds(2));
  take("/second", std::chrono::seconds(5));
  WidgetRequest update;
  const auto& trackers = update.ctx.Set(request::LatencyTrackers());
  REQUIRE(webhooks.Run(update).ok());
  // One after the other they add up; those that are asked at once began together.
  CHECK(trackers.Of(request::Layer::kMutatingWebhook) == std::chrono::seconds(7));
  CHECK(trackers.Of(request::Layer::kValidatingWebhook) == std::chrono::seconds(7));
  CHECK(webhooks.servers.requests().size() == 4);
}

TEST_CASE("webhook: a request whose time is over is not answered as allowed", "[admission]") {
  FakeClock clock;
  Webhook webhook = Mutating(WebhookAt("slow", "slow"));
  webhook.fail_open = true;
  Webhooks webhooks({webhook}, clock);
  WidgetRequest request;
  request.ctx = Context::Child(Context::Background(), clock.Now() + std::chrono::seconds(2));
  webhooks.servers.Handle("/slow", [&](const client::HttpRequest&) {
    clock.Advance(std::chrono::seconds(3));
    return Status(Reason::kTimeout, "late");
  });
  const Status status = webhooks.Run(request);
  CHECK(status.code() == 504);
  CHECK(status.message() == "Timeout: request did not complete within requested timeout");
}

TEST_CASE("webhook: one client for each place and authority", "[admission]") {
  const auto served = [](const std::string& name, const std::string& ca) {
    return With(WebhookAt(name, ""), [&](Webhook& webhook) {
      webhook.client_config = {.service = client::WebhookService{"ns", "svc", "/allow", 8443},
                               .ca_bundle = ca};
    });
  };
  Webhooks webhooks({served("a", "one"), served("b", "one"), served("c", "two")});
  WidgetRequest request;
  CHECK(webhooks.Run(request).ok());
  CHECK(webhooks.Run(request).ok());
  const auto clients = webhooks.servers.clients();
  REQUIRE(clients.size() == 2);
  CHECK(clients[0].tls.ca_pem == "one");
  CHECK(clients[0].tls.server_name == "svc.ns.svc");
  CHECK(clients[1].tls.ca_pem == "two");
  CHECK(webhooks.servers.requests()[0].url == "https://svc.ns.svc:8443/allow?timeout=10s");
}

// accessors.go, defaults of v1
TEST_CASE("webhook: a configuration is read with the defaults of v1", "[admission]") {
  runtime::Object object(runtime::Kind::Untyped({"admissionregistration.k8s.io", "v1",
                                                 "MutatingWebhookConfiguration"}),
                         "v1");
  object.SetRoot(
      codec::ParseJson(
          R"({"metadata":{"name":"conf"},"webhooks":[{"name":"a.b.c","clientConfig":)"
          R"({"service":{"namespace":"n","name":"s"},"caBundle":"Y2E="},"rules":[{)"
          R"("operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],)"
          R"("resources":["pods"]}]},{"name":"a.b.c","clientConfig":{"url":"https://x"},)"
          R"("failurePolicy":"Ignore","matchPolicy":"Exact","timeoutSeconds":3,)"
          R"("reinvocationPolicy":"IfNeeded","objectSelector":{"matchLabels":{"a":"b"}},)"
          R"("sideEffects":"None","admissionReviewVersions":["v1"]}]})",
          object.arena())
          .value());
  const admission::Webhooks read = admission::WebhooksOf(object, WebhookType::kMutating);
  REQUIRE(read.size() == 2);
  CHECK(read[0].uid == "conf/a.b.c/0");
  CHECK(read[0].client_config.ca_bundle == "ca");
  CHECK(read[0].client_config.service->port == 443);
  CHECK_FALSE(read[0].fail_open);
  CHECK(read[0].equivalent);
  CHECK(read[0].timeout == std::chrono::seconds(10));
  CHECK(read[0].rules[0].scope == "*");
  CHECK(read[0].namespace_selector->empty());
  CHECK(read[1].uid == "conf/a.b.c/1");
  CHECK(read[1].fail_open);
  CHECK_FALSE(read[1].equivalent);
  CHECK(read[1].timeout == std::chrono::seconds(3));
  CHECK(read[1].reinvoke_if_needed);
  CHECK(read[1].object_selector->ToString() == "a=b");
}
