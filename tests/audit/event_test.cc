#include "apiserver/audit/event.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>

namespace apiserver::inline v0::audit {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

Event FullEvent() {
  Event event;
  event.level = Level::kRequestResponse;
  event.audit_id = "0b7e";
  event.stage = Stage::kResponseComplete;
  event.request_uri = "/apis/wardle.example.com/v1alpha1/namespaces/ns/flunders?a=<b>";
  event.verb = "create";
  event.user = std::make_shared<auth::UserInfo>(
      auth::UserInfo{.name = "jane",
                     .uid = "u1",
                     .groups = {"g1", "g2"},
                     .extra = {{"scopes", {"a", "b"}}, {"x", {"y"}}}});
  event.impersonated_user =
      std::make_shared<auth::UserInfo>(auth::UserInfo{.name = "joe", .groups = {"g3"}});
  event.impersonation_constraint = "impersonate:user-info";
  event.source_ips = {"10.0.0.1", "::1"};
  event.user_agent = "kubectl/v1.35";
  event.object_ref = ObjectReference{.resource = "flunders",
                                     .namespace_ = "ns",
                                     .name = "x",
                                     .uid = "u2",
                                     .api_group = "wardle.example.com",
                                     .api_version = "v1alpha1",
                                     .resource_version = "7",
                                     .subresource = "status"};
  event.response_status = ResponseStatus{
      .status = "Failure",
      .message = "no",
      .reason = "Invalid",
      .details = StatusDetails{.name = "x",
                               .kind = "Flunder",
                               .causes = {{.reason = "R", .message = "M", .field = "spec"}},
                               .retry_after_seconds = 2},
      .code = 422};
  event.request_object = std::make_shared<const std::string>(R"({"a":1})");
  event.response_object = std::make_shared<const std::string>(R"({"b":[2]})");
  event.request_received = Clock::Wall(seconds(1'700'000'000) + microseconds(123));
  event.stage_timestamp = Clock::Wall(seconds(1'700'000'001));
  event.annotations = {{"authorization.k8s.io/decision", "allow"}, {"z", "\n"}};
  return event;
}

std::string Json(const Event& event) {
  std::string json;
  AppendEventJson(event, json);
  return json;
}

}  // namespace

TEST_CASE("audit: an event's JSON has the fields of audit.k8s.io/v1 in their order", "[audit]") {
  CHECK(
      Json(FullEvent()) ==
      R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse",)"
      R"("auditID":"0b7e","stage":"ResponseComplete",)"
      R"("requestURI":"/apis/wardle.example.com/v1alpha1/namespaces/ns/flunders?a=\u003cb\u003e",)"
      R"("verb":"create","user":{"username":"jane","uid":"u1","groups":["g1","g2"],)"
      R"("extra":{"scopes":["a","b"],"x":["y"]}},)"
      R"("impersonatedUser":{"username":"joe","groups":["g3"]},)"
      R"("authenticationMetadata":{"impersonationConstraint":"impersonate:user-info"},)"
      R"("sourceIPs":["10.0.0.1","::1"],"userAgent":"kubectl/v1.35",)"
      R"("objectRef":{"resource":"flunders","namespace":"ns","name":"x","uid":"u2",)"
      R"("apiGroup":"wardle.example.com","apiVersion":"v1alpha1","resourceVersion":"7",)"
      R"("subresource":"status"},"responseStatus":{"metadata":{},"status":"Failure",)"
      R"("message":"no","reason":"Invalid","details":{"name":"x","kind":"Flunder",)"
      R"("causes":[{"reason":"R","message":"M","field":"spec"}],"retryAfterSeconds":2},)"
      R"("code":422},"requestObject":{"a":1},"responseObject":{"b":[2]},)"
      R"("requestReceivedTimestamp":"2023-11-14T22:13:20.000123Z",)"
      R"("stageTimestamp":"2023-11-14T22:13:21.000000Z",)"
      R"("annotations":{"authorization.k8s.io/decision":"allow","z":"\n"}})");
}

TEST_CASE("audit: the time of a stage is its own, in the same second and in others", "[audit]") {
  const Clock::Wall received(std::chrono::microseconds(1'700'000'000'900'001));
  const auto text_of = [&](std::chrono::microseconds later) {
    const std::string json =
        Json({.request_received = received, .stage_timestamp = received + later});
    const std::size_t at = json.find(R"("requestReceivedTimestamp")");
    return json.substr(at, json.size() - 1 - at);
  };
  const std::string first = R"("requestReceivedTimestamp":"2023-11-14T22:13:20.900001Z",)";

  CHECK(text_of(std::chrono::microseconds(0)) ==
        first + R"("stageTimestamp":"2023-11-14T22:13:20.900001Z")");
  CHECK(text_of(std::chrono::microseconds(99'998)) ==
        first + R"("stageTimestamp":"2023-11-14T22:13:20.999999Z")");
  CHECK(text_of(std::chrono::microseconds(99'999)) ==
        first + R"("stageTimestamp":"2023-11-14T22:13:21.000000Z")");
  CHECK(text_of(std::chrono::microseconds(-900'002)) ==
        first + R"("stageTimestamp":"2023-11-14T22:13:19.999999Z")");
}

TEST_CASE("audit: an event that says nothing keeps the fields that are never left out", "[audit]") {
  CHECK(Json(Event()) ==
        R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"None","auditID":"",)"
        R"("stage":"RequestReceived","requestURI":"","verb":"","user":{},)"
        R"("requestReceivedTimestamp":null,"stageTimestamp":null})");
}

TEST_CASE("audit: events of a list carry no kind of their own", "[audit]") {
  Event event;
  event.audit_id = "1";
  const auto one = std::make_shared<const Event>(event);
  CHECK(EventListJson({}) ==
        R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[]})");
  CHECK(EventListJson({one, one}) ==
        R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[)"
        R"({"level":"None","auditID":"1","stage":"RequestReceived","requestURI":"","verb":"",)"
        R"("user":{},"requestReceivedTimestamp":null,"stageTimestamp":null},)"
        R"({"level":"None","auditID":"1","stage":"RequestReceived","requestURI":"","verb":"",)"
        R"("user":{},"requestReceivedTimestamp":null,"stageTimestamp":null}]})");
}

// plugin/pkg/audit/log TestLogEventsLegacy; an event of ours always has a stage.
TEST_CASE("audit: the legacy text of an event is one line", "[audit]") {
  Event bare;
  bare.audit_id = "a-1";
  CHECK(EventString(bare) ==
        R"(0001-01-01T00:00:00Z AUDIT: id="a-1" stage="RequestReceived" ip="<unknown>" )"
        R"(method="" user="<none>" groups="<none>" as="<self>" asgroups="<lookup>" )"
        R"(user-agent="" namespace="<none>" uri="" response="<deferred>")");
  Event event;
  event.response_status = ResponseStatus{.code = 200};
  event.request_uri = "/apis/rbac.authorization.k8s.io/v1/roles";
  event.source_ips = {"127.0.0.1"};
  event.request_received = Clock::Wall(seconds(1'700'000'000) + microseconds(120'000));
  event.audit_id = "a-2";
  event.verb = "get";
  event.user = std::make_shared<auth::UserInfo>(
      auth::UserInfo{.name = "admin", .groups = {"system:masters", "system:authenticated"}});
  event.user_agent = "kube-admin";
  event.object_ref = ObjectReference{.resource = "", .namespace_ = "default"};
  CHECK(EventString(event) ==
        R"(2023-11-14T22:13:20.12Z AUDIT: id="a-2" stage="RequestReceived" ip="127.0.0.1" )"
        R"(method="get" user="admin" groups="\"system:masters\",\"system:authenticated\"" )"
        R"(as="<self>" asgroups="<lookup>" user-agent="kube-admin" namespace="default" )"
        R"(uri="/apis/rbac.authorization.k8s.io/v1/roles" response="200")");
}

TEST_CASE("audit: control bytes do not leave an event unescaped", "[audit]") {
  Event event;
  event.user_agent = "evil\x1b[2J\nline";
  event.request_uri = "/\r\n\x7f";
  for (const std::string& text : {Json(event), EventString(event)}) {
    for (const char c : text) CHECK(static_cast<unsigned char>(c) >= 0x20);
  }
}

}  // namespace apiserver::inline v0::audit
