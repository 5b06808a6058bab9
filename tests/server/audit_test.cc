// What the audit filters and the handlers record of requests.
#include <catch2/catch.hpp>
#include <stdexcept>

#include "apiserver/audit/backend.h"
#include "apiserver/audit/policy.h"
#include "apiserver/base/sync.h"
#include "apiserver/testing/server/fake_clock.h"
#include "server/requests/redact.h"
#include "server/requests/source_ips.h"
#include "widget_server.h"

using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::TestServer;
using apiserver::testing::Widget;
namespace audit = apiserver::audit;

namespace {

// Keeps what it is given.
class Keeper final : public audit::Backend {
 public:
  std::string name() const override { return "keeper"; }
  apiserver::Status Run(const audit::BackendEnvironment&) override { return {}; }
  void ProcessEvents(audit::Events events, Done done) override {
    {
      auto kept = kept_.Lock();
      for (audit::EventPtr& event : events) kept->push_back(std::move(event));
    }
    kept_.NotifyAll();
    if (done) done(processed);
  }
  bool Holds() const override { return holds; }
  void Shutdown(std::chrono::milliseconds) override { shut_down = true; }

  // The first `count` events; waits for them.
  audit::Events Take(std::size_t count) {
    auto kept = kept_.Lock();
    REQUIRE(kept.WaitUntil(apiserver::RealClock().Now() + std::chrono::seconds(60),
                           [&] { return kept->size() >= count; }));
    audit::Events taken(kept->begin(), kept->begin() + static_cast<std::ptrdiff_t>(count));
    kept->erase(kept->begin(), kept->begin() + static_cast<std::ptrdiff_t>(count));
    return taken;
  }
  std::size_t size() const { return kept_.Lock()->size(); }

  bool processed = true;
  bool holds = false;
  std::atomic<bool> shut_down{false};

 private:
  apiserver::Guarded<audit::Events> kept_;
};

struct AuditedServer {
  std::shared_ptr<Keeper> keeper = std::make_shared<Keeper>();
  std::unique_ptr<TestServer> server;

  explicit AuditedServer(const std::string& rules,
                         std::function<void(apiserver::server::Config&)> more = nullptr) {
    auto policy = audit::ParsePolicy("apiVersion: audit.k8s.io/v1\nkind: Policy\n" + rules);
    INFO(policy.status().ToString());
    REQUIRE(policy.ok());
    server = StartWidgetServer({.configure = [&](apiserver::server::Config& config) {
      config.audit_policy = audit::NewPolicyRuleEvaluator(*policy);
      config.audit_backend = keeper;
      if (more) more(config);
    }});
  }
  // The last event of one request, whose policy omits all but ResponseComplete.
  audit::EventPtr Complete() { return keeper->Take(1).front(); }
};

std::string OnlyComplete(const std::string& level, const std::string& more = "") {
  return "omitStages: [RequestReceived, ResponseStarted]\n" + more + "rules:\n- level: " + level +
         "\n";
}

std::string Json(const audit::JsonPtr& json) { return json ? *json : "absent"; }

class Throwing final : public apiserver::auth::Authorizer {
 public:
  apiserver::Result<apiserver::auth::Verdict> Authorize(
      const apiserver::Context&, const apiserver::auth::Attributes&) const override {
    throw std::runtime_error("out of luck");
  }
};

class Denying final : public apiserver::auth::Authorizer {
 public:
  apiserver::Result<apiserver::auth::Verdict> Authorize(
      const apiserver::Context&, const apiserver::auth::Attributes&) const override {
    return apiserver::auth::Verdict{apiserver::auth::Decision::kDeny, "no"};
  }
};

}  // namespace

TEST_CASE("server: a request is recorded when it comes and when it is answered", "[server]") {
  AuditedServer audited("rules: [{level: Metadata}]");
  const auto answer = audited.server->Call(
      "POST", std::string(kWidgets) + "?fieldManager=me&token=hunter2", Widget("a", 1),
      {{"Audit-ID", "mine"},
       {"User-Agent", std::string(1030, 'u')},
       {"X-Forwarded-For", "10.0.0.1, 010.0.0.2"}});
  REQUIRE(answer.code == 201);
  const auto events = audited.keeper->Take(2);
  CHECK(events[0]->stage == audit::Stage::kRequestReceived);
  CHECK(events[0]->stage_timestamp == events[0]->request_received);
  CHECK_FALSE(events[0]->response_status.has_value());
  const audit::Event& event = *events[1];
  CHECK(event.stage == audit::Stage::kResponseComplete);
  CHECK(event.level == audit::Level::kMetadata);
  CHECK(event.audit_id == "mine");
  CHECK(event.verb == "create");
  CHECK(event.request_uri == std::string(kWidgets) + "?fieldManager=me&token=REDACTED");
  CHECK(event.user->name == "system:apiserver");
  CHECK(event.user_agent == std::string(1024, 'u') + "...TRUNCATED");
  CHECK(event.source_ips == std::vector<std::string>{"10.0.0.1", "10.0.0.2"});
  CHECK(*event.object_ref == audit::ObjectReference{.resource = "widgets",
                                                    .namespace_ = "default",
                                                    .name = "a",
                                                    .api_group = "example.com",
                                                    .api_version = "v1"});
  CHECK(*event.response_status == audit::ResponseStatus{.code = 201});
  CHECK(Json(event.request_object) == "absent");
  CHECK(Json(event.response_object) == "absent");
  CHECK(event.stage_timestamp >= event.request_received);
}

// webhook_duration.go: AuditAnnotationsFromLatencyTrackers; audit.go: writeLatencyToAnnotation.
TEST_CASE("server: where the time went of what took long is recorded", "[server]") {
  struct Case {
    std::chrono::milliseconds took;
    std::map<std::string, std::string> annotations;
  };
  const auto test = GENERATE(values<Case>({
      {std::chrono::milliseconds(500), {}},
      {std::chrono::milliseconds(501),
       {{"apiserver.latency.k8s.io/authorization", "501ms"},
        {"apiserver.latency.k8s.io/total", "501ms"}}},
      {std::chrono::milliseconds(61'500),
       {{"apiserver.latency.k8s.io/authorization", "1m1.5s"},
        {"apiserver.latency.k8s.io/total", "1m1.5s"}}},
  }));
  apiserver::testing::FakeClock clock;
  class Slow final : public apiserver::auth::Authorizer {
   public:
    Slow(apiserver::testing::FakeClock& clock, std::chrono::nanoseconds time)
        : clock_(clock), time_(time) {}
    apiserver::Result<apiserver::auth::Verdict> Authorize(
        const apiserver::Context&, const apiserver::auth::Attributes&) const override {
      clock_.Advance(time_);
      return apiserver::auth::Verdict{apiserver::auth::Decision::kAllow, ""};
    }

   private:
    apiserver::testing::FakeClock& clock_;
    std::chrono::nanoseconds time_;
  };
  AuditedServer audited(OnlyComplete("Metadata"), [&](apiserver::server::Config& config) {
    config.clock = &clock;
    config.authorizer = std::make_shared<Slow>(clock, test.took);
  });
  (void)audited.server->Call("GET", "/version");
  std::map<std::string, std::string> latencies;
  const audit::EventPtr event = audited.Complete();
  for (const auto& [key, value] : event->annotations) {
    if (key.starts_with("apiserver.latency.k8s.io/")) latencies.emplace(key, value);
  }
  CHECK(latencies == test.annotations);
}

TEST_CASE("server: what the policy does not want is not recorded", "[server]") {
  AuditedServer audited("rules: [{level: None, verbs: [get]}, {level: Metadata}]");
  CHECK(audited.server->Call("GET", "/version").code == 200);
  CHECK(audited.server->Call("GET", kWidgets).code == 200);
  const auto events = audited.keeper->Take(2);
  CHECK(events[0]->verb == "list");
  CHECK(events[1]->verb == "list");
  const std::string metrics = audited.server->server().metrics()->Serialize();
  CHECK(Contains(metrics, "apiserver_audit_level_total{level=\"None\"} 1"));
  CHECK(Contains(metrics, "apiserver_audit_level_total{level=\"Metadata\"} 1"));
  CHECK(Contains(metrics, "apiserver_audit_event_total 2"));
}

TEST_CASE("server: objects are recorded from level Request, answers from RequestResponse",
          "[server]") {
  AuditedServer request(OnlyComplete("Request"));
  REQUIRE(request.server->Call("POST", kWidgets, Widget("a", 1)).code == 201);
  auto event = request.Complete();
  CHECK(Json(event->request_object) ==
        R"({"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"a"},)"
        R"("spec":{"size":1}})");
  CHECK(Json(event->response_object) == "absent");

  AuditedServer both(OnlyComplete("RequestResponse"));
  const std::string sibling = "/apis/example.com/v1alpha1/namespaces/default/widgets";
  const auto created = both.server->Call(
      "POST", sibling,
      R"({"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":"b"},)"
      R"("spec":{"length":2}})");
  REQUIRE(created.code == 201);
  event = both.Complete();
  CHECK(Contains(
      Json(event->request_object),
      R"("apiVersion":"example.com/v1alpha1","metadata":{"name":"b"},"spec":{"length":2})"));
  CHECK(Json(event->response_object) + "\n" == created.body);
  CHECK(event->object_ref->api_version == "v1alpha1");

  for (const std::string& target : {sibling + "/b", sibling}) {
    const auto read = both.server->Call("GET", target);
    REQUIRE(read.code == 200);
    CHECK(Json(both.Complete()->response_object) + "\n" == read.body);
  }
  const auto table = both.server->Call(
      "GET", sibling, "", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  REQUIRE(Contains(table.body, "\"kind\":\"Table\""));
  CHECK(Json(both.Complete()->response_object) + "\n" == table.body);
}

TEST_CASE("server: updates name the revision, patches and deletes keep their bodies", "[server]") {
  AuditedServer audited(OnlyComplete("RequestResponse"));
  const auto created = audited.server->Call("POST", kWidgets, Widget("a", 1));
  const std::string version = [&created] {
    const std::string mark = "\"resourceVersion\":\"";
    const std::size_t at = created.body.find(mark) + mark.size();
    return created.body.substr(at, created.body.find('"', at) - at);
  }();
  (void)audited.Complete();
  const std::string one = std::string(kWidgets) + "/a";
  REQUIRE(audited.server
              ->Call("PUT", one,
                     R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a",)"
                     R"("resourceVersion":")" +
                         version + R"("},"spec":{"size":2}})")
              .code == 200);
  auto event = audited.Complete();
  CHECK(event->verb == "update");
  CHECK(event->object_ref->resource_version == version);

  REQUIRE(audited.server
              ->Call("PATCH", one, R"({ "spec": {"size": 3} })",
                     {{"Content-Type", "application/merge-patch+json"}})
              .code == 200);
  event = audited.Complete();
  CHECK(event->verb == "patch");
  CHECK(Json(event->request_object) == R"({"spec":{"size":3}})");
  CHECK(Contains(Json(event->response_object), R"("spec":{"size":3})"));

  REQUIRE(audited.server
              ->Call("PATCH", one + "?fieldManager=m&force=true",
                     "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n"
                     "spec: {color: red}\n",
                     {{"Content-Type", "application/apply-patch+yaml"}})
              .code == 200);
  event = audited.Complete();
  CHECK(Json(event->request_object) ==
        R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},)"
        R"("spec":{"color":"red"}})");

  REQUIRE(
      audited.server
          ->Call("DELETE", one,
                 R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"})")
          .code == 200);
  event = audited.Complete();
  CHECK(event->verb == "delete");
  CHECK(Json(event->request_object) ==
        R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"})");
  CHECK(event->response_status->status == "Success");
  CHECK(event->response_status->code == 200);
  CHECK(Contains(Json(event->response_object), "\"kind\":\"Status\""));
}

TEST_CASE("server: a policy may leave managedFields out", "[server]") {
  AuditedServer audited(OnlyComplete("RequestResponse", "omitManagedFields: true\n"));
  const std::string owned =
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a",)"
      R"("managedFields":[{"manager":"x","operation":"Update","apiVersion":"example.com/v1",)"
      R"("time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]},)"
      R"("spec":{"size":1}})";
  REQUIRE(audited.server->Call("POST", kWidgets, owned).code == 201);
  auto event = audited.Complete();
  CHECK(Contains(Json(event->request_object), "\"name\":\"a\""));
  CHECK_FALSE(Contains(Json(event->request_object), "managedFields"));
  CHECK(Contains(Json(event->response_object), "\"name\":\"a\""));
  CHECK_FALSE(Contains(Json(event->response_object), "managedFields"));
  const auto list = audited.server->Call("GET", kWidgets);
  CHECK(Contains(list.body, "managedFields"));
  event = audited.Complete();
  CHECK(Contains(Json(event->response_object), "\"name\":\"a\""));
  CHECK_FALSE(Contains(Json(event->response_object), "managedFields"));
  const std::string as_table = "application/json;as=Table;g=meta.k8s.io;v=v1";
  const auto table = audited.server->Call("GET", std::string(kWidgets) + "?includeObject=Object",
                                          "", {{"Accept", as_table}});
  CHECK(Contains(table.body, "managedFields"));
  event = audited.Complete();
  CHECK(Contains(Json(event->response_object), "\"kind\":\"Table\""));
  CHECK(Contains(Json(event->response_object), "\"name\":\"a\""));
  CHECK_FALSE(Contains(Json(event->response_object), "managedFields"));
}

TEST_CASE("server: the name made for an object is recorded", "[server]") {
  AuditedServer audited(OnlyComplete("Metadata"));
  const auto created = audited.server->Call(
      "POST", kWidgets,
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"generateName":"w-"}})");
  REQUIRE(created.code == 201);
  const auto event = audited.Complete();
  CHECK(event->object_ref->name.starts_with("w-"));
  CHECK(Contains(created.body, "\"name\":\"" + event->object_ref->name + "\""));
}

TEST_CASE("server: an error is recorded with its status", "[server]") {
  AuditedServer audited(OnlyComplete("Metadata"));
  REQUIRE(audited.server->Call("GET", std::string(kWidgets) + "/missing").code == 404);
  const auto event = audited.Complete();
  CHECK(event->response_status->status == "Failure");
  CHECK(event->response_status->reason == "NotFound");
  CHECK(event->response_status->message == "widgets.example.com \"missing\" not found");
  CHECK(event->response_status->details->name == "missing");
  CHECK(event->response_status->code == 404);

  AuditedServer denied(OnlyComplete("Metadata"), [](apiserver::server::Config& config) {
    config.authorizer = std::make_shared<Denying>();
  });
  REQUIRE(denied.server->Call("GET", kWidgets).code == 403);
  CHECK(denied.Complete()->response_status->reason == "Forbidden");
}

TEST_CASE("server: who cannot be authenticated is recorded once, without the credential",
          "[server]") {
  AuditedServer audited("rules: [{level: RequestResponse}]");
  REQUIRE(audited.server->Call("GET", kWidgets, "", {{"Authorization", "Bearer hunter2"}}).code ==
          401);
  const auto event = audited.keeper->Take(1).front();
  CHECK(event->stage == audit::Stage::kResponseStarted);
  CHECK(event->user == nullptr);
  CHECK(event->verb == "list");
  CHECK(event->response_status->message == "Authentication failed, attempted: bearer");
  CHECK(event->response_status->code == 401);
  std::string json;
  audit::AppendEventJson(*event, json);
  CHECK_FALSE(Contains(json, "hunter2"));
  CHECK(audited.keeper->size() == 0);
}

TEST_CASE("server: an exception is recorded as a panic", "[server]") {
  AuditedServer audited("rules: [{level: Metadata}]", [](apiserver::server::Config& config) {
    config.authorizer = std::make_shared<Throwing>();
  });
  REQUIRE(audited.server->Call("GET", kWidgets).code == 500);
  const auto events = audited.keeper->Take(2);
  CHECK(events[1]->stage == audit::Stage::kPanic);
  CHECK(*events[1]->response_status ==
        audit::ResponseStatus{.status = "Failure",
                              .message = "APIServer panic'd: out of luck",
                              .reason = "InternalError",
                              .code = 500});
}

TEST_CASE("server: a watch is recorded when it starts and when it ends", "[server]") {
  AuditedServer audited("rules: [{level: RequestResponse}]");
  const auto answer =
      audited.server->Call("GET", std::string(kWidgets) + "?watch=1&timeoutSeconds=1");
  REQUIRE(answer.code == 200);
  const auto events = audited.keeper->Take(3);
  CHECK(events[0]->stage == audit::Stage::kRequestReceived);
  CHECK(events[1]->stage == audit::Stage::kResponseStarted);
  CHECK(events[2]->stage == audit::Stage::kResponseComplete);
  CHECK(events[2]->verb == "watch");
  CHECK(events[2]->response_status->code == 200);
  CHECK(Json(events[2]->response_object) == "absent");
  // All that is known when it starts is told again when it ends.
  audit::Event ended = *events[2];
  CHECK(ended.stage_timestamp - ended.request_received >= std::chrono::seconds(1));
  ended.stage = events[1]->stage;
  ended.stage_timestamp = events[1]->stage_timestamp;
  std::erase_if(ended.annotations, [](const auto& each) {
    return each.first.starts_with("apiserver.latency.k8s.io/");
  });
  CHECK(audit::EventListJson({std::make_shared<audit::Event>(ended)}) ==
        audit::EventListJson({events[1]}));
  CHECK(ended.user == events[1]->user);
}

TEST_CASE("server: a strict audit log that cannot be written refuses requests", "[server]") {
  AuditedServer audited("rules: [{level: Metadata}]");
  audited.keeper->holds = true;
  CHECK(audited.server->Call("GET", kWidgets).code == 200);
  (void)audited.keeper->Take(2);
  audited.keeper->processed = false;
  const auto refused = audited.server->Call("POST", kWidgets, Widget("a", 1));
  CHECK(refused.code == 500);
  CHECK(Contains(refused.body, "failed to store audit event"));
  audited.keeper->holds = false;
  CHECK(audited.server->Call("GET", std::string(kWidgets) + "/a").code == 404);
  CHECK(Contains(audited.server->server().metrics()->Serialize(),
                 "apiserver_audit_requests_rejected_total 1"));
}

TEST_CASE("server: stopping flushes the audit log", "[server]") {
  AuditedServer audited("rules: [{level: Metadata}]");
  CHECK_FALSE(audited.keeper->shut_down);
  audited.server->server().Stop();
  CHECK(audited.keeper->shut_down);
}

// k8s.io/apimachinery/pkg/util/net TestSourceIPs
TEST_CASE("server: source addresses come from the headers and the connection", "[server]") {
  struct Case {
    std::string real;
    std::string forwarded;
    std::string remote;
    std::vector<std::string> want;
  };
  const std::string full = "abcd:ef01:2345:6789:abcd:ef01:2345:6789";
  const std::string first = "aaaa:bbbb:cccc:dddd:eeee:ffff:0:1111";
  const std::vector<Case> cases = {
      {"", "", "", {}},
      {"", "", "1.2.3.4:555", {"1.2.3.4"}},
      {"", "", "1.2.3.4", {"1.2.3.4"}},
      {"", " ", "1.2.3.4", {"1.2.3.4"}},
      {"", "garbage garbage values!", "1.2.3.4", {"1.2.3.4"}},
      {"", "garbage garbage values!,4.5.6.7", "1.2.3.4", {"4.5.6.7", "1.2.3.4"}},
      {"",
       "120.120.120.126,2.2.2.2,4.5.6.7",
       "1.2.3.4",
       {"120.120.120.126", "2.2.2.2", "4.5.6.7", "1.2.3.4"}},
      {"", "2.2.2.2,1.2.3.4", "1.2.3.4", {"2.2.2.2", "1.2.3.4"}},
      {"garbage, just garbage!", "", "1.2.3.4", {"1.2.3.4"}},
      {"garbage, just garbage!", "2.2.2.2", "1.2.3.4", {"2.2.2.2", "1.2.3.4"}},
      {"2.2.2.2", "", "1.2.3.4", {"2.2.2.2", "1.2.3.4"}},
      {"1.2.3.4", "", "1.2.3.4", {"1.2.3.4"}},
      {"2.2.2.2",
       "120.120.120.126,4.5.6.7",
       "1.2.3.4",
       {"120.120.120.126", "4.5.6.7", "2.2.2.2", "1.2.3.4"}},
      {"2.2.2.2",
       "120.120.120.126,2.2.2.2,4.5.6.7",
       "1.2.3.4",
       {"120.120.120.126", "2.2.2.2", "4.5.6.7", "1.2.3.4"}},
      {"1.2.3.4", "1.2.3.4", "1.2.3.4", {"1.2.3.4"}},
      {full,
       first + ",0:1111:2222:3333:4444:5555:6666:7777",
       "aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa",
       {first, "0:1111:2222:3333:4444:5555:6666:7777", full,
        "aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa"}},
      {"", first + ",1.2.3.4", "0:0:0:0:0:ffff:102:304", {first, "1.2.3.4"}},
      {"", "", "[::1]:40000", {"::1"}}};
  for (const Case& each : cases) {
    CAPTURE(each.real, each.forwarded, each.remote);
    apiserver::http::Request request;
    if (!each.real.empty()) request.headers.Add("X-Real-Ip", each.real);
    if (!each.forwarded.empty()) request.headers.Add("X-Forwarded-For", each.forwarded);
    request.remote_address = each.remote;
    CHECK(apiserver::server::SourceIPs(request) == each.want);
  }
}

TEST_CASE("server: credentials in a query are not logged", "[server]") {
  using apiserver::server::RedactedTarget;
  CHECK(RedactedTarget("/a/b") == "/a/b");
  CHECK(RedactedTarget("/a?") == "/a?");
  CHECK(RedactedTarget("/a?watch=1&access_token=s3cret&x") == "/a?watch=1&access_token=REDACTED&x");
  CHECK(RedactedTarget("/a?acc%65ss_token=s3cret&&TOKEN=t") ==
        "/a?acc%65ss_token=REDACTED&&TOKEN=REDACTED");
  CHECK(RedactedTarget("/a?tokens=3&password") == "/a?tokens=3&password");
}
