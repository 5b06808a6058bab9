#include "apiserver/audit/context.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/audit/request.h"
#include "base/manual.h"

namespace apiserver::inline v0::audit {
namespace {

class Lines final : public LogSink {
 public:
  bool Enabled(LogLevel) const override { return true; }
  void Write(LogLevel, std::string_view message, std::span<const LogField> fields) override {
    std::string line(message);
    for (const LogField& field : fields) line += " " + std::string(field.key) + "=" + field.value;
    lines.push_back(std::move(line));
  }
  std::vector<std::string> lines;
};

struct Audited {
  testing::ManualClock clock;
  Lines log;
  Context ctx = Context::Child(Context::Background());
  AuditContext* audit = nullptr;

  Audited() {
    auto made = std::make_shared<AuditContext>("id", clock, log);
    audit = made.get();
    ctx.Set(AuditContextPtr(std::move(made)));
  }
};

}  // namespace

// TestEnabled
TEST_CASE("audit: what is told counts until the policy says None", "[audit]") {
  AuditContext* none = AuditContextFrom(Context::Background());
  CHECK(none == nullptr);
  AddAnnotation(Context::Background(), "k", "v");
  CHECK(LevelOf(Context::Background()) == Level::kNone);

  Audited one;
  CHECK(one.audit->enabled());
  CHECK(LevelOf(one.ctx) == Level::kNone);
  CHECK_FALSE(one.audit->Wants(Stage::kRequestReceived));
  one.audit->Init({.level = Level::kMetadata});
  CHECK(one.audit->enabled());
  CHECK(LevelOf(one.ctx) == Level::kMetadata);
  CHECK(one.audit->Wants(Stage::kRequestReceived));

  Audited other;
  other.audit->Init({.level = Level::kNone});
  CHECK_FALSE(other.audit->enabled());
  CHECK_FALSE(other.audit->Wants(Stage::kRequestReceived));
}

// TestAddAuditAnnotation, TestAuditAnnotationsWithAuditLoggingSetup
TEST_CASE("audit: annotations are kept before and after the policy is asked", "[audit]") {
  Audited one;
  AddAnnotation(one.ctx, "before-evaluation", "1");
  one.audit->Init({.level = Level::kMetadata});
  AddAnnotation(Context::Child(one.ctx), "before-completion", "2");
  using Annotations = std::map<std::string, std::string>;
  CHECK(one.audit->Snapshot(Stage::kResponseComplete).annotations ==
        Annotations{{"before-completion", "2"}, {"before-evaluation", "1"}});

  Audited none;
  none.audit->Init({.level = Level::kNone});
  AddAnnotation(none.ctx, "k", "v");
  CHECK(none.audit->Snapshot(Stage::kResponseComplete).annotations.empty());
}

TEST_CASE("audit: the first value of an annotation stays, and another one is logged", "[audit]") {
  Audited one;
  AddAnnotation(one.ctx, "k", "first");
  AddAnnotation(one.ctx, "k", "first");
  CHECK(one.log.lines.empty());
  AddAnnotation(one.ctx, "k", "second");
  CHECK(one.audit->Snapshot(Stage::kPanic).annotations.at("k") == "first");
  REQUIRE(one.log.lines.size() == 1);
  CHECK(one.log.lines[0] ==
        "an audit annotation was set twice; the first value stays key=k first=first second=second");
}

TEST_CASE("audit: of several annotations those stay that were set before", "[audit]") {
  Audited one;
  AddAnnotation(one.ctx, "k", "first");
  AddAnnotations(one.ctx, {{"k", "second"}, {"other", "o"}, {"other", "o"}});
  CHECK(one.audit->Snapshot(Stage::kPanic).annotations ==
        std::map<std::string, std::string>{{"k", "first"}, {"other", "o"}});
  REQUIRE(one.log.lines.size() == 1);
  CHECK(one.log.lines[0].ends_with("key=k first=first second=second"));
}

TEST_CASE("audit: the first decision of the policy fills the event, unless it is None", "[audit]") {
  Audited one;
  one.audit->InitWith({.level = Level::kMetadata}, [](Event& event) { event.verb = "get"; });
  one.audit->InitWith({.level = Level::kNone}, [](Event& event) { event.verb = "list"; });
  CHECK(one.audit->enabled());
  CHECK(one.audit->Snapshot(Stage::kResponseComplete).verb == "get");

  Audited none;
  none.audit->InitWith({.level = Level::kNone}, [](Event& event) { event.verb = "get"; });
  CHECK(none.audit->Snapshot(Stage::kResponseComplete).verb.empty());
}

// TestLogImpersonatedUser's fields
TEST_CASE("audit: an impersonated user stands beside who asked", "[audit]") {
  Audited one;
  one.audit->Visit([](Event& event) {
    event.user = std::make_shared<auth::UserInfo>(auth::UserInfo{.name = "asker"});
  });
  one.audit->Init({.level = Level::kMetadata});
  LogImpersonatedUser(one.ctx, std::make_shared<auth::UserInfo>(auth::UserInfo{.name = "joe"}),
                      "impersonate:user-info");
  const Event event = one.audit->Snapshot(Stage::kResponseComplete);
  CHECK(event.user->name == "asker");
  CHECK(event.impersonated_user->name == "joe");
  CHECK(event.impersonation_constraint == "impersonate:user-info");
}

TEST_CASE("audit: stages the policy omits are not wanted, and the others have their time",
          "[audit]") {
  Audited one;
  RequestAuditConfig config{.level = Level::kMetadata};
  config.omit_stages[static_cast<std::size_t>(Stage::kResponseStarted)] = true;
  one.audit->Init(config);
  one.clock.Advance(std::chrono::seconds(3));
  CHECK_FALSE(one.audit->Wants(Stage::kResponseStarted));
  CHECK(one.audit->Wants(Stage::kPanic));
  const Event received = one.audit->Snapshot(Stage::kRequestReceived);
  CHECK(received.stage_timestamp == received.request_received);
  const Event complete = one.audit->Snapshot(Stage::kResponseComplete, /*last=*/true);
  CHECK(complete.stage_timestamp - complete.request_received == std::chrono::seconds(3));
  CHECK(complete.audit_id == "id");
}

TEST_CASE("audit: a visit at a stage shows the stage and the time that was read", "[audit]") {
  Audited one;
  one.audit->Init({.level = Level::kMetadata});
  const Clock::Wall read = one.clock.WallNow() + std::chrono::seconds(5);

  one.audit->VisitAt(Stage::kResponseComplete, read, [&](const Event& event, RequestJson&) {
    CHECK(event.stage == Stage::kResponseComplete);
    CHECK(event.stage_timestamp == read);
  });
  one.audit->VisitAt(Stage::kRequestReceived, read, [&](const Event& event, RequestJson&) {
    CHECK(event.stage_timestamp == event.request_received);
  });
}

TEST_CASE("audit: the code of the response is in whatever is used of the event next", "[audit]") {
  const auto code_of = [](const Event& event) {
    return event.response_status ? event.response_status->code : 0;
  };
  Audited one;
  one.audit->Init({.level = Level::kMetadata});
  int seen = 0;

  CHECK(code_of(one.audit->Snapshot(Stage::kRequestReceived)) == 0);
  one.audit->SetCode(201);
  one.audit->VisitAt(Stage::kResponseStarted, {},
                     [&](const Event& event, RequestJson&) { seen = code_of(event); });
  CHECK(seen == 201);
  one.audit->SetCode(202);
  one.audit->Pack();
  one.audit->Visit([&](const Event& event) { seen = code_of(event); });
  CHECK(seen == 202);
  one.audit->SetCode(203);
  CHECK(code_of(one.audit->Snapshot(Stage::kResponseComplete)) == 203);
}

TEST_CASE("audit: a request has the time that its caller has read", "[audit]") {
  testing::ManualClock clock;
  Lines log;
  const Clock::Wall read = clock.WallNow() - std::chrono::seconds(1);
  AuditContext audit("id", read, clock, log);
  CHECK(audit.received() == read);
  CHECK(audit.Snapshot(Stage::kRequestReceived).stage_timestamp == read);
}

TEST_CASE("audit: the name of what was created is made for a record that lacks it", "[audit]") {
  int made = 0;
  const auto name = [&made] {
    ++made;
    return std::string("x-1");
  };
  LogCreatedName(Context::Background(), name);
  Audited one;
  LogCreatedName(one.ctx, name);
  one.audit->Init({.level = Level::kMetadata});
  one.audit->Visit([](Event& event) { event.object_ref.emplace().name = "x"; });
  LogCreatedName(one.ctx, name);
  CHECK(made == 0);

  one.audit->Visit([](Event& event) { event.object_ref->name.clear(); });
  LogCreatedName(one.ctx, name);
  CHECK(made == 1);
  one.audit->Visit([](const Event& event) { CHECK(event.object_ref->name == "x-1"); });
}

}  // namespace apiserver::inline v0::audit
