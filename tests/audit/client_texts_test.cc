#include "audit/client_texts.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "audit/event_json.h"

namespace apiserver::inline v0::audit {
namespace {

Event EventOf(std::string user, std::string agent = "kubectl/v1.35") {
  Event event;
  event.audit_id = "0b7e";
  event.request_uri = "/apis";
  event.verb = "get";
  event.user = std::make_shared<auth::UserInfo>(
      auth::UserInfo{.name = std::move(user), .groups = {"developers"}});
  event.source_ips = {"10.0.0.1"};
  event.user_agent = std::move(agent);
  event.object_ref = ObjectReference{.resource = "flunders"};
  return event;
}

// Returns whether the members of the event's client were kept.
bool IsKept(const Event& event, ClientTexts& clients) {
  std::string text;
  text::JsonSink sink(text);
  bool put = false;
  clients.PutMembers(event, sink, [&] {
    put = true;
    sink.Put(",\"user\":{}");
  });
  return !put;
}

std::string KeptText(const Event& event, ClientTexts& clients) {
  std::string text;
  text::JsonSink sink(text);
  RequestJson request;
  PutEventJson(event, {request, clients}, sink);
  sink.Flush();
  return text;
}

std::string WholeText(const Event& event) {
  std::string text;
  AppendEventJson(event, text);
  return text;
}

TEST_CASE("audit: the members of a client are kept from its second event on", "[audit]") {
  ClientTexts clients;
  const Event event = EventOf("jane");
  CHECK_FALSE(IsKept(event, clients));
  CHECK_FALSE(IsKept(event, clients));
  CHECK(IsKept(event, clients));
  Event other = event;
  SECTION("another agent") { other.user_agent = "kubectl/v1.34"; }
  SECTION("another address") { other.source_ips = {"10.0.0.2"}; }
  SECTION("one address more") { other.source_ips.emplace_back("10.0.0.2"); }
  SECTION("an equal user who has authenticated anew") {
    other.user = std::make_shared<auth::UserInfo>(*event.user);
  }
  SECTION("for somebody else") { other.impersonated_user = EventOf("joe").user; }
  SECTION("under a constraint") { other.impersonation_constraint = "impersonate:user-info"; }
  SECTION("not authenticated") { other.user = nullptr; }
  CHECK_FALSE(IsKept(other, clients));
}

TEST_CASE("audit: members that are kept are those that would be written", "[audit]") {
  ClientTexts clients;
  std::vector<Event> events = {EventOf("jane"), EventOf("joe"), EventOf("jane", "<curl>"),
                               EventOf("j\"", ""), EventOf(std::string(4000, 'x'))};
  events.push_back(events[0]);
  events.back().source_ips = {"192.0.2.7", "10.0.0.1"};
  events.push_back(events[0]);
  events.back().source_ips.clear();
  events.push_back(events[0]);
  events.back().impersonated_user = events[1].user;
  events.push_back(events[0]);
  events.back().user = nullptr;
  for (int turn = 0; turn < 4; ++turn) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      CAPTURE(turn, i);
      CHECK(KeptText(events[i], clients) == WholeText(events[i]));
      CHECK(KeptText(events[i], clients) == WholeText(events[i]));
    }
  }
}

TEST_CASE("audit: long members of a client are not kept", "[audit]") {
  ClientTexts clients;
  std::string text;
  const Event event = EventOf("jane");
  for (int i = 0; i < 4; ++i) {
    text::JsonSink sink(text);
    bool put = false;
    clients.PutMembers(event, sink, [&] {
      put = true;
      sink.Put(std::string(3000, 'x'));
    });
    CHECK(put);
  }
}

}  // namespace
}  // namespace apiserver::inline v0::audit
