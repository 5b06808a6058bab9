// The lines of events that the watches of a loop share.
#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "http/loop.h"
#include "response/event_lines.h"
#include "widget_server.h"

using apiserver::response::EventLines;
using apiserver::watch::Event;
using apiserver::watch::EventType;
namespace response = apiserver::response;
namespace runtime = apiserver::runtime;

namespace {

struct Sharing {
  explicit Sharing(std::chrono::nanoseconds idle = std::chrono::hours(1))
      : lines(std::make_shared<EventLines>(*loop, idle)) {}

  Event Change(EventType type = EventType::kAdded) const {
    return {.type = type,
            .object = std::make_shared<runtime::Object>(target.kind, target.version),
            .resource_version = "7"};
  }
  // Sends an event as a watch does that makes `made`; returns what it found: "" or a line.
  std::string Send(const Event& event, const std::string& made) const {
    const auto form = std::make_shared<const response::EventForm>(
        response::EventForm{.target = target, .negotiated = negotiated});
    const auto [line, wanted] = lines->Find(event, form);
    std::string found(line);
    if (wanted) lines->Keep(event, form, made);
    return found;
  }

  std::shared_ptr<apiserver::http::Loop> loop =
      apiserver::http::Loop::Create(apiserver::NullLogSink());
  std::shared_ptr<EventLines> lines;
  response::Target target{.kind = apiserver::testing::WidgetKind(), .version = "v1"};
  response::Negotiated negotiated;
};

}  // namespace

TEST_CASE("endpoints: the third watch of an event finds the line of the second", "[endpoints]") {
  Sharing sharing;
  const Event event = sharing.Change();

  CHECK(sharing.Send(event, "of the first").empty());
  CHECK(sharing.Send(event, "of the second").empty());
  CHECK(sharing.Send(event, "of the third") == "of the second");
  CHECK(sharing.Send(event, "of the fourth") == "of the second");
}

TEST_CASE("endpoints: a line is shared by watches of one form only", "[endpoints]") {
  Sharing sharing;
  const Event event = sharing.Change();
  for (int i = 0; i < 2; ++i) (void)sharing.Send(event, "line");
  REQUIRE(sharing.Send(event, "") == "line");

  Sharing other = sharing;
  Event sent = event;
  SECTION("the type of the event") { sent.type = EventType::kModified; }
  SECTION("the revision") { sent.resource_version = "8"; }
  SECTION("the object") { sent = sharing.Change(); }
  SECTION("the media type") { other.negotiated.type = apiserver::codec::MediaType::kCbor; }
  SECTION("the shape") { other.negotiated.shape = response::Shape::kPartialObjectMetadata; }
  SECTION("the version of the shape") { other.negotiated.meta_version = "v1beta1"; }
  SECTION("the version") { other.target.version = "v1alpha1"; }
  SECTION("the kind") { other.target.kind = apiserver::testing::WidgetKind(); }

  CHECK(other.Send(sent, "other").empty());
}

TEST_CASE("endpoints: the lines of a loop are bounded in number and size", "[endpoints]") {
  Sharing sharing;
  const Event large = sharing.Change();
  for (int i = 0; i < 4; ++i) {
    CHECK(sharing.Send(large, std::string(EventLines::kLineBytesMax + 1, 'x')).empty());
  }

  std::vector<Event> events;
  for (std::size_t i = 0; i < 4 * EventLines::kLinesMax; ++i) {
    events.push_back(sharing.Change());
    for (int watch = 0; watch < 3; ++watch) (void)sharing.Send(events.back(), "line");
  }

  CHECK(sharing.lines->size() <= EventLines::kLinesMax);
  CHECK(sharing.lines->size() > EventLines::kLinesMax / 2);
}

TEST_CASE("endpoints: the lines of a loop that sends no events are dropped with their objects",
          "[endpoints]") {
  Sharing sharing(std::chrono::milliseconds(1));
  Event event = sharing.Change();
  const std::weak_ptr<const runtime::Object> object = event.object;
  for (int watch = 0; watch < 3; ++watch) (void)sharing.Send(event, "line");
  event.object.reset();
  REQUIRE_FALSE(object.expired());

  for (int i = 0; i < 10'000 && !object.expired(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    sharing.loop->RunReady();
  }

  CHECK(object.expired());
  CHECK(sharing.lines->size() == 0);
  // And again, since the timer must come back.
  const Event next = sharing.Change();
  for (int watch = 0; watch < 2; ++watch) CHECK(sharing.Send(next, "next").empty());
  CHECK(sharing.Send(next, "") == "next");
}
