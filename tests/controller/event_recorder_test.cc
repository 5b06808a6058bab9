// Tests which events reach the server, how often, and that recording never waits.
#include "apiserver/controller/event_recorder.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <utility>

#include "apiserver/meta/selector.h"
#include "apiserver/testing/server/fake_clock.h"
#include "controller/gated_connection.h"
#include "controller/served.h"
#include "controller/support.h"

namespace controller_test {
namespace {

using namespace apiserver;
using controller::EventRecorderOptions;
using controller::EventType;
using controller::ObjectReference;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const client::Target kEvents{.resource = {"", "v1", "events"}, .namespace_ = "default"};
const ObjectReference kTom{.api_version = "zoo.example.com/v1",
                           .kind = "Pet",
                           .namespace_ = "default",
                           .name = "tom",
                           .uid = "u-1"};

// A recorder in front of a server, with a clock that stands still.
class Recorded {
 public:
  explicit Recorded(EventRecorderOptions options = {}) : server(StartCluster()) {
    auto gated = std::make_shared<GatedConnection>(server->server().LoopbackConnection());
    gate = gated.get();
    client_ = client::NewClient(std::move(gated));
    options.client = client_.get();
    options.component = "zoo-controller";
    options.host = "node-1";
    options.metrics = registry.get();
    options.clock = &clock;
    recorder = controller::NewEventRecorder(std::move(options)).value();
  }
  ~Recorded() {
    gate->Open();
    recorder->Stop();
  }
  void Fed(const std::string& message) {
    recorder->Event(kTom, EventType::kNormal, "Fed", message);
  }
  // Sends what waits, and returns the events of the server.
  std::vector<runtime::ObjectPtr> All() {
    recorder->Stop();
    return server->client().List(Context::Background(), kEvents).value().items;
  }
  bool Counted(const std::string& result, int count) const {
    return registry->Serialize().find(
               "event_recorder_events_total{component=\"zoo-controller\","
               "result=\"" +
               result + "\"} " + std::to_string(count) + "\n") != std::string::npos;
  }

  const std::unique_ptr<testing::TestServer> server;
  const std::unique_ptr<metrics::Registry> registry = metrics::NewRegistry();
  testing::FakeClock clock;
  GatedConnection* gate = nullptr;
  std::unique_ptr<controller::EventRecorder> recorder;

 private:
  std::unique_ptr<client::Client> client_;
};

TEST_CASE("event recorder: an event is what kubectl describe shows of its object", "[controller]") {
  Recorded recorded;
  recorded.recorder->Event(kTom, EventType::kWarning, "Hungry", "ate \"nothing\"",
                           {{"zoo.example.com/mice", "0"}});
  recorded.recorder->Stop();
  // As kubectl describe asks for them.
  const auto events = recorded.server->client().List(
      Context::Background(), kEvents,
      {.field_selector =
           meta::FieldSelector::Parse("involvedObject.name=tom,involvedObject.namespace=default,"
                                      "involvedObject.kind=Pet,involvedObject.uid=u-1")
               .value()});
  REQUIRE(events.value().items.size() == 1);
  const runtime::Object& event = *events->items[0];
  CHECK(event.name().starts_with("tom."));
  CHECK(event.annotations()["zoo.example.com/mice"].AsString() == "0");
  CHECK(event["involvedObject"]["apiVersion"].AsString() == "zoo.example.com/v1");
  CHECK(event["type"].AsString() == "Warning");
  CHECK(event["reason"].AsString() == "Hungry");
  CHECK(event["message"].AsString() == "ate \"nothing\"");
  CHECK(event["count"].AsInt() == 1);
  CHECK(event["firstTimestamp"].AsString() == "2020-09-13T12:26:40Z");
  CHECK(event["lastTimestamp"].AsString() == "2020-09-13T12:26:40Z");
  CHECK(event["source"]["component"].AsString() == "zoo-controller");
  CHECK(event["source"]["host"].AsString() == "node-1");
  CHECK(event["reportingComponent"].AsString() == "zoo-controller");
  CHECK(recorded.recorder->dropped() == 0);
}

TEST_CASE("event recorder: an object without a namespace has its events in default",
          "[controller]") {
  Recorded recorded;
  runtime::Object node(runtime::Kind::Untyped({"", "v1", "Node"}), "v1");
  node.Edit("metadata", "name") = "Not a DNS name";
  recorded.recorder->Event(node, EventType::kNormal, "Ready", "is ready");
  const auto events = recorded.All();
  REQUIRE(events.size() == 1);
  CHECK((*events[0])["involvedObject"]["kind"].AsString() == "Node");
  CHECK(events[0]->name().size() ==
        std::string_view("8c3b0000-0000-4000-8000-000000000000").size());
}

TEST_CASE("event recorder: an event that comes again is counted", "[controller]") {
  Recorded recorded;
  recorded.Fed("ate a mouse");
  recorded.clock.Advance(seconds(5));
  recorded.Fed("ate a mouse");
  recorded.Fed("ate a mouse");
  recorded.Fed("ate a bird");
  const auto events = recorded.All();
  REQUIRE(events.size() == 2);
  const runtime::Object& mouse =
      (*events[0])["message"].AsString() == "ate a mouse" ? *events[0] : *events[1];
  CHECK(mouse["count"].AsInt() == 3);
  CHECK(mouse["firstTimestamp"].AsString() == "2020-09-13T12:26:40Z");
  CHECK(mouse["lastTimestamp"].AsString() == "2020-09-13T12:26:45Z");
  CHECK(recorded.Counted("created", 2));
  CHECK(recorded.Counted("patched", 2));
}

TEST_CASE("event recorder: an event that has expired is created again, with its count",
          "[controller]") {
  Recorded recorded;
  recorded.Fed("ate a mouse");
  const auto patience = RealClock().Now() + kPatience;
  while (!recorded.Counted("created", 1) && RealClock().Now() < patience) {
    Notification().WaitFor(milliseconds(1));
  }
  REQUIRE(recorded.server->client().Delete(Context::Background(), kEvents).ok());
  recorded.Fed("ate a mouse");
  const auto events = recorded.All();
  REQUIRE(events.size() == 1);
  CHECK((*events[0])["count"].AsInt() == 2);
  CHECK(recorded.Counted("created", 2));
}

TEST_CASE("event recorder: events that differ by their message are combined", "[controller]") {
  Recorded recorded;
  for (int i = 0; i < 12; ++i) recorded.Fed("ate mouse " + std::to_string(i));
  const auto events = recorded.All();
  CHECK(events.size() == 10);
  int combined = 0;
  for (const auto& event : events) {
    if (!(*event)["message"].AsString().starts_with("(combined from similar events): ")) continue;
    ++combined;
    CHECK((*event)["message"].AsString() == "(combined from similar events): ate mouse 11");
    CHECK((*event)["count"].AsInt() == 3);
  }
  CHECK(combined == 1);
}

TEST_CASE("event recorder: an object may have 25 events at once, and one in five minutes",
          "[controller]") {
  Recorded recorded;
  for (int i = 0; i < 30; ++i) recorded.Fed("ate a mouse");
  recorded.recorder->Event(
      {.api_version = "v1", .kind = "Pod", .namespace_ = "default", .name = "other"},
      EventType::kNormal, "Fed", "ate, too");
  const auto patience = RealClock().Now() + kPatience;
  while (!recorded.Counted("created", 2) && RealClock().Now() < patience) {
    Notification().WaitFor(milliseconds(1));
  }
  CHECK(recorded.recorder->dropped() == 5);
  recorded.clock.Advance(minutes(5) + seconds(1));
  recorded.Fed("ate a mouse");
  for (const auto& event : recorded.All()) {
    if (event->name().starts_with("tom.")) CHECK((*event)["count"].AsInt() == 31);
  }
  CHECK(recorded.Counted("patched", 25));
  CHECK(recorded.Counted("spam", 5));
}

TEST_CASE("event recorder: a server that hangs keeps nobody waiting", "[controller]") {
  Recorded recorded({.queue_max = 3, .flush_timeout = milliseconds(50)});
  recorded.gate->Hold();
  recorded.Fed("first");
  const auto patience = RealClock().Now() + kPatience;
  while (recorded.gate->waiting() == 0 && RealClock().Now() < patience) {
    Notification().WaitFor(milliseconds(1));
  }
  for (int i = 0; i < 5; ++i) recorded.Fed("more " + std::to_string(i));
  CHECK(recorded.recorder->dropped() == 2);
  CHECK(recorded.Counted("queue_full", 2));
  recorded.gate->Open();
  CHECK(recorded.All().size() == 4);
  recorded.Fed("late");
  CHECK(recorded.Counted("stopped", 1));
}

TEST_CASE("event recorder: a server that is away is asked again, one that refuses is not",
          "[controller]") {
  Recorded recorded({.tries_max = 3, .retry_period = milliseconds(1)});
  SECTION("refused") {
    recorded.gate->Refuse(Refusal(403, "Forbidden", "namespace is being terminated"));
    recorded.Fed("in vain");
    CHECK(recorded.All().empty());
    CHECK(recorded.gate->requests().size() == 1);
    CHECK(recorded.Counted("refused", 1));
  }
  SECTION("away") {
    recorded.gate->Cut();
    recorded.Fed("in vain");
    const auto patience = RealClock().Now() + kPatience;
    while (recorded.recorder->dropped() == 0 && RealClock().Now() < patience) {
      Notification().WaitFor(milliseconds(1));
    }
    CHECK(recorded.gate->requests().size() == 3);
    CHECK(recorded.Counted("unreachable", 1));
  }
}

TEST_CASE("event recorder: a stop sends what waits once, and ends a pause", "[controller]") {
  Recorded recorded({.retry_period = minutes(10)});
  recorded.gate->Cut();
  recorded.Fed("one");
  recorded.Fed("two");
  recorded.recorder->Stop();
  CHECK(recorded.recorder->dropped() == 2);
  CHECK(recorded.Counted("stopped", 2));
}

TEST_CASE("event recorder: as the documentation has it", "[controller]") {
  const auto server = StartCluster();
  runtime::Object pet(runtime::Kind::Untyped({"zoo.example.com", "v1", "Pet"}), "v1");
  pet.Edit("metadata", "name") = "tom";
  pet.Edit("metadata", "namespace") = "default";

  // [events]
  const auto events = controller::NewEventRecorder(
      {.client = &server->client(), .component = "zoo-controller", .host = "node-1"});
  REQUIRE(events.ok());
  (*events)->Event(pet, controller::EventType::kNormal, "Fed", "ate two mice");
  (*events)->Stop();  // Sends what waits.
  // [/events]

  CHECK(server->client().List(Context::Background(), kEvents).value().items.size() == 1);
}

TEST_CASE("event recorder: required options", "[controller]") {
  const auto server = StartCluster();
  CHECK(controller::NewEventRecorder({.component = "x"}).status().reason() == Reason::kInvalid);
  CHECK(controller::NewEventRecorder({.client = &server->client()}).status().reason() ==
        Reason::kInvalid);
}

}  // namespace
}  // namespace controller_test
