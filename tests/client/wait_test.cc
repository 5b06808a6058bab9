// Waits for objects, over scripted servers that fail and forget, and reading in pages.
#include "apiserver/client/wait.h"

#include <catch2/catch.hpp>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "client/scripted_client.h"

namespace apiserver::inline v0::client {
namespace {

using namespace scripted;  // NOLINT: a test.
using std::chrono::milliseconds;

const Target kThing{.resource = {"g", "v1", "things"}, .namespace_ = "ns", .name = "a"};
constexpr WaitOptions kQuick{.backoff = milliseconds(1), .backoff_max = milliseconds(4)};

ObjectCondition IsAt(std::string version) {
  return [version = std::move(version)](const ObjectPtr& object) {
    return object && object->resource_version() == version;
  };
}

std::string VersionOf(const Result<ObjectPtr>& object) {
  if (!object.ok()) return object.status().ToString();
  return *object ? std::string((*object)->resource_version()) : "gone";
}

Status Down() { return {Reason::kServiceUnavailable, "connection refused"}; }

TEST_CASE("client: a wait sees the first state, and each change", "[client]") {
  std::vector<std::string> seen;
  ScriptedClient server(
      {ListOf({}, "1"), Watching{.events = {Changed(EventType::kAdded, "a", "2"), Bookmark("3"),
                                            Changed(EventType::kDeleted, "a", "4"),
                                            Changed(EventType::kAdded, "a", "5")},
                                 .open_end = true}});
  const auto found = WaitFor(
      Context::Background(), server, kThing,
      [&](const ObjectPtr& object) {
        seen.push_back(object ? std::string(object->resource_version()) : "none");
        return seen.back() == "5";
      },
      kQuick);
  CHECK(VersionOf(found) == "5");
  CHECK(seen == std::vector<std::string>{"none", "2", "none", "5"});
  CHECK(server.asked() == Log{"list rv=", "watch rv=1"});

  ScriptedClient at_once({ListOf({Thing("a", "7")}, "9")});
  CHECK(VersionOf(WaitFor(Context::Background(), at_once, kThing, IsAt("7"))) == "7");
  CHECK(at_once.asked() == Log{"list rv="});
}

TEST_CASE("client: a wait goes on when the server fails, ends the watch or forgets its revision",
          "[client]") {
  ScriptedClient server(
      {Down(), ListOf({Thing("a", "1")}, "1"), Watching{}, ListOf({Thing("a", "1")}, "2"),
       Watching{.events = {Failed(meta::NewResourceExpired("gone"))}},
       ListOf({Thing("a", "1")}, "3"), Status(Reason::kTooManyRequests, "later"), ListOf({}, "4")});
  CHECK(VersionOf(WaitFor(Context::Background(), server, kThing, IsGone(), kQuick)) == "gone");
  CHECK(server.asked() == Log{"list rv=", "list rv=", "watch rv=1", "list rv=", "watch rv=2",
                              "list rv=", "watch rv=3", "list rv="});
}

TEST_CASE("client: a wait ends with what cannot be mended", "[client]") {
  const Context ctx = Context::Background();
  ScriptedClient refuses({Status(Reason::kForbidden, "you may not")});
  CHECK(WaitFor(ctx, refuses, kThing, IsGone(), kQuick).status().reason() == Reason::kForbidden);

  // Also if the server itself could answer so.
  ScriptedClient server({ListOf({Thing("a", "1")}, "1")});
  const auto broken = [](const ObjectPtr&) -> Result<bool> { return Down(); };
  CHECK(WaitFor(ctx, server, kThing, broken, kQuick).status() == Down());
  CHECK(server.asked().size() == 1);

  Target none = kThing;
  none.name.clear();
  CHECK(WaitFor(ctx, server, none, IsGone()).status().reason() == Reason::kInvalid);
  Target part = kThing;
  part.subresource = "status";
  CHECK(WaitFor(ctx, server, part, IsGone()).status().reason() == Reason::kInvalid);
}

TEST_CASE("client: a wait ends with its context, and tells the server's last failure", "[client]") {
  ScriptedClient down(std::deque<Act>(10'000, Down()));
  const Context late = Context::Child(Context::Background(), RealClock().Now() + milliseconds(20));
  const Status timeout = WaitFor(late, down, kThing, IsGone(), kQuick).status();
  CHECK(timeout.reason() == Reason::kTimeout);
  CHECK(timeout.message() ==
        "timed out waiting for the condition on things.g/a: " + Down().ToString());
  CHECK(down.asked().size() > 1);

  // The watch stays open until it is cancelled.
  ScriptedClient quiet({ListOf({}, "1"), Watching{.open_end = true}});
  const Context ctx = Context::Child(Context::Background());
  Status end;
  Thread waiting("wait", [&] { end = WaitFor(ctx, quiet, kThing, IsAt("1")).status(); });
  REQUIRE(quiet.AwaitAsked("watch rv=1"));
  ctx.Cancel(Status(Reason::kConflict, "no longer wanted"));
  waiting.Join();
  CHECK(end.message() == "no longer wanted");
}

ObjectPtr WithStatus(const std::string& status) {
  auto object =
      std::make_unique<runtime::Object>(runtime::Kind::Untyped({"g", "v1", "Thing"}), "v1");
  const std::string text = R"({"metadata":{"name":"a","generation":3},"status":)" + status + "}";
  object->SetRoot(codec::ParseJson(object->arena().Copy(text), object->arena()).value());
  return object;
}

TEST_CASE("client: conditions count as kubectl wait counts them", "[client]") {
  const auto ready = [](const std::string& status, const char* wanted = "True") {
    return HasCondition("Ready", wanted)(WithStatus(status)).value();
  };
  CHECK(ready(R"({"conditions":[{"type":"Old","status":"False"},
                                {"type":"Ready","status":"True"}]})"));
  CHECK(ready(R"({"conditions":[{"type":"ready","status":"TRUE"}]})"));
  CHECK(!ready(R"({"conditions":[{"type":"Ready","status":"False"}]})"));
  CHECK(ready(R"({"conditions":[{"type":"Ready","status":"False"}]})", "false"));
  CHECK(!ready(R"({"conditions":[]})"));
  CHECK(!ready("null"));
  // About the generation that the object has now, or an older one.
  CHECK(ready(R"({"conditions":[{"type":"Ready","status":"True","observedGeneration":3}],
                  "observedGeneration":2})"));
  CHECK(!ready(R"({"conditions":[{"type":"Ready","status":"True","observedGeneration":2}]})"));
  CHECK(!ready(R"({"conditions":[{"type":"Ready","status":"True"}],"observedGeneration":2})"));
  CHECK(!HasCondition("Ready")(nullptr).value());
}

TEST_CASE("client: a collection is read in pages of one revision", "[client]") {
  std::string names;
  const auto note = [&names](const ObjectPtr& object) {
    names += object->name();
    return Status();
  };
  Target things = kThing;
  things.name.clear();
  ScriptedClient server({ListOf({Thing("a", "1"), Thing("b", "1")}, "5", "t1"),
                         ListOf({Thing("c", "1")}, "5", "t2"), ListOf({Thing("d", "1")}, "5")});
  CHECK(ForEachObject(Context::Background(), server, things, {.resource_version = "0"}, note).ok());
  CHECK(names == "abcd");
  CHECK(server.asked() == Log{"list rv=0", "list rv= continue=t1", "list rv= continue=t2"});

  ScriptedClient expires({ListOf({Thing("a", "1")}, "5", "t1"), meta::NewResourceExpired("gone")});
  const Status expired = ForEachObject(Context::Background(), expires, things, {}, note);
  CHECK(expired.reason() == Reason::kExpired);

  ScriptedClient full({ListOf({Thing("a", "1"), Thing("b", "1")}, "5", "t1")});
  const auto stop = [](const ObjectPtr&) { return Status(Reason::kConflict, "enough"); };
  CHECK(ForEachObject(Context::Background(), full, things, {}, stop).message() == "enough");
  CHECK(full.asked().size() == 1);
}

}  // namespace
}  // namespace apiserver::inline v0::client
