#include "audit/packed_event.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "apiserver/audit/context.h"
#include "base/manual.h"

namespace apiserver::inline v0::audit {
namespace {

auth::UserInfoPtr User(std::string name) {
  return std::make_shared<auth::UserInfo>(auth::UserInfo{.name = std::move(name)});
}

// An event with every part that an open watch may have.
Event Full() {
  Event event;
  event.level = Level::kRequest;
  event.audit_id = "0f8f2b2e-1f6e-4d6c-9a35-1f3a8f6d2b11";
  event.stage = Stage::kResponseStarted;
  event.request_uri = "/api/v1/pods?watch=1&labelSelector=" + std::string(300, 'x');
  event.verb = "watch";
  event.user = User("alice");
  event.impersonated_user = User("bob");
  event.impersonation_constraint = "impersonate:user-info";
  event.source_ips = {"192.0.2.1", "2001:db8::1"};
  event.user_agent = "kubelet/v1.35.0";
  event.object_ref = ObjectReference{.resource = "pods",
                                     .namespace_ = "default",
                                     .name = "a",
                                     .uid = "u",
                                     .api_group = "g.example.com",
                                     .api_version = "v1",
                                     .resource_version = "7",
                                     .subresource = "log"};
  event.response_status =
      ResponseStatus{.status = "Success", .message = "m", .reason = "r", .code = 200};
  event.request_received = Clock::Wall(std::chrono::seconds(1'700'000'000));
  event.stage_timestamp = Clock::Wall(std::chrono::seconds(1'700'000'001));
  event.annotations = {{"authorization.k8s.io/decision", "allow"}, {"empty", ""}};
  return event;
}

// Compares every part.
void CheckSame(const Event& a, const Event& b) {
  std::string json_of_a;
  std::string json_of_b;
  AppendEventJson(a, json_of_a);
  AppendEventJson(b, json_of_b);
  CHECK(json_of_a == json_of_b);
  CHECK(a.level == b.level);
  CHECK(a.stage == b.stage);
  CHECK(a.user == b.user);
  CHECK(a.impersonated_user == b.impersonated_user);
  CHECK(a.source_ips == b.source_ips);
  CHECK(a.object_ref == b.object_ref);
  CHECK(a.response_status == b.response_status);
  CHECK(a.request_received == b.request_received);
  CHECK(a.stage_timestamp == b.stage_timestamp);
  CHECK(a.annotations == b.annotations);
}

}  // namespace

TEST_CASE("audit: an event that was packed has all its parts", "[audit]") {
  for (Event event : {Full(), Event()}) {
    const Event before = event;
    const auto packed = PackedEvent::Pack(event);
    REQUIRE(packed != nullptr);
    CheckSame(packed->Unpack(), before);
  }
}

TEST_CASE("audit: an event with an object or details is not packed", "[audit]") {
  Event with_object = Full();
  with_object.request_object = std::make_shared<const std::string>("{}");
  Event with_response = Full();
  with_response.response_object = std::make_shared<const std::string>("{}");
  Event with_details = Full();
  with_details.response_status->details = StatusDetails{.name = "x"};

  for (Event* event : {&with_object, &with_response, &with_details}) {
    const Event before = *event;
    CHECK(PackedEvent::Pack(*event) == nullptr);
    CheckSame(*event, before);
  }
}

TEST_CASE("audit: what is told of a packed event is not lost", "[audit]") {
  testing::ManualClock clock;
  Context ctx = Context::Child(Context::Background());
  const auto audit = std::make_shared<AuditContext>("id", clock, NullLogSink());
  ctx.Set(AuditContextPtr(audit));
  audit->Init({.level = Level::kMetadata});
  Event expected = Full();
  audit->Visit([&expected](Event& event) { event = expected; });
  audit->Pack();
  audit->Pack();

  AddAnnotation(ctx, "late", "yes");
  LogImpersonatedUser(ctx, User("carol"), "later");
  audit->Pack();
  clock.Advance(std::chrono::seconds(5));
  const Event last = audit->Snapshot(Stage::kResponseComplete, /*last=*/true);

  expected.stage = Stage::kResponseComplete;
  expected.stage_timestamp = clock.WallNow();
  expected.annotations["late"] = "yes";
  expected.impersonated_user = last.impersonated_user;
  expected.impersonation_constraint = "later";
  CheckSame(last, expected);
  CHECK(last.impersonated_user->name == "carol");
}

}  // namespace apiserver::inline v0::audit
