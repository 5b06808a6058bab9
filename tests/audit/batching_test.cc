#include "apiserver/audit/batching.h"

#include <catch2/catch.hpp>

#include "audit/fakes.h"

namespace apiserver::inline v0::audit {
namespace {

BatchOptions Small(std::size_t batch) {
  return {.buffer_size = 100,
          .max_batch_size = batch,
          .max_batch_wait = std::chrono::hours(1),
          .throttle = false};
}

}  // namespace

// TestBufferedBackendCollectEvents, TestBufferedBackendProcessEventsAfterStop
TEST_CASE("audit: events are handed on in batches, and the rest when the server stops", "[audit]") {
  auto sink = std::make_shared<FakeBackend>();
  Counted counted;
  const BackendPtr buffered = NewBufferedBackend(sink, Small(2));
  CHECK(buffered->name() == "buffered<fake>");
  CHECK_FALSE(buffered->Holds());
  REQUIRE(buffered->Run(counted.environment()).ok());
  for (const char* id : {"1", "2", "3", "4", "5"}) {
    buffered->ProcessEvents({EventNamed(id)}, nullptr);
  }
  REQUIRE(sink->WaitForBatches(2));
  buffered->Shutdown(kSoon);
  CHECK(sink->Batches() == std::vector<std::string>{"1,2", "3,4", "5"});
  CHECK(sink->shutdowns() == 1);
  buffered->ProcessEvents({EventNamed("6")}, nullptr);
  CHECK(sink->Batches().size() == 3);
  CHECK(counted.Shows("apiserver_audit_error_total{plugin=\"buffered\"} 1"));
}

// TestBufferedBackendCollectEvents: batch by timer.
TEST_CASE("audit: a batch that is not full goes when it is old", "[audit]") {
  auto sink = std::make_shared<FakeBackend>();
  Counted counted;
  const BackendPtr buffered =
      NewBufferedBackend(sink, {.max_batch_wait = std::chrono::milliseconds(5), .throttle = false});
  REQUIRE(buffered->Run(counted.environment()).ok());
  buffered->ProcessEvents({EventNamed("1")}, nullptr);
  CHECK(sink->WaitForBatches(1));
  CHECK(sink->Batches() == std::vector<std::string>{"1"});
}

// TestBufferedBackendProcessEventsBlocksOnBufferFull, ...AfterStop
TEST_CASE("audit: events over the buffer are dropped and counted, and stop no request", "[audit]") {
  auto sink = std::make_shared<FakeBackend>(/*answers_at_once=*/false);
  Counted counted;
  BatchOptions options = Small(1);
  options.buffer_size = 2;
  options.buffer_bytes = 10'000;
  options.batches_in_flight = 1;
  const BackendPtr buffered = NewBufferedBackend(sink, options);
  REQUIRE(buffered->Run(counted.environment()).ok());
  buffered->ProcessEvents({EventNamed("1")}, nullptr);
  REQUIRE(sink->WaitForBatches(1));
  buffered->ProcessEvents({EventNamed("large", 11'000)}, nullptr);
  CHECK(counted.Shows("apiserver_audit_error_total{plugin=\"buffered\"} 1"));
  bool processed = false;
  // One of them may be in the hands of the sender already, which waits for the first batch.
  for (const char* id : {"2", "3", "4", "5"}) {
    buffered->ProcessEvents({EventNamed(id)}, [&processed](bool value) { processed = value; });
  }
  CHECK(processed);
  const bool one_taken = counted.Shows("apiserver_audit_error_total{plugin=\"buffered\"} 2");
  CHECK((one_taken || counted.Shows("apiserver_audit_error_total{plugin=\"buffered\"} 3")));
}

// TestBufferedBackendShutdownWaitsForDelegatedCalls
TEST_CASE("audit: stopping waits for batches under way, but not for ever", "[audit]") {
  auto sink = std::make_shared<FakeBackend>(/*answers_at_once=*/false);
  Counted counted;
  {
    const BackendPtr buffered = NewBufferedBackend(sink, Small(1));
    REQUIRE(buffered->Run(counted.environment()).ok());
    buffered->ProcessEvents({EventNamed("1")}, nullptr);
    REQUIRE(sink->WaitForBatches(1));
    Notification stopped;
    const Thread stopper("stopper", [&] {
      buffered->Shutdown(kSoon);
      stopped.Notify();
    });
    CHECK_FALSE(stopped.WaitFor(std::chrono::milliseconds(20)));
    REQUIRE(sink->AnswerOne(true));
    CHECK(stopped.WaitFor(kSoon));
  }
  auto stuck = std::make_shared<FakeBackend>(/*answers_at_once=*/false);
  BatchOptions one = Small(1);
  one.batches_in_flight = 1;
  const BackendPtr buffered = NewBufferedBackend(stuck, one);
  REQUIRE(buffered->Run(counted.environment()).ok());
  for (const char* id : {"1", "2", "3", "4"}) buffered->ProcessEvents({EventNamed(id)}, nullptr);
  REQUIRE(stuck->WaitForBatches(1));
  buffered->Shutdown(std::chrono::milliseconds(1));
  CHECK(stuck->shutdowns() == 1);
  const std::string shown = counted.registry->Serialize();
  CHECK(shown.find("apiserver_audit_error_total{plugin=\"buffered\"}") != std::string::npos);
}

TEST_CASE("audit: batches over the rate wait, unless the server stops", "[audit]") {
  auto sink = std::make_shared<FakeBackend>();
  Counted counted;
  BatchOptions options = Small(1);
  options.throttle = true;
  options.throttle_qps = 0.001;
  options.throttle_burst = 2;
  const BackendPtr buffered = NewBufferedBackend(sink, options);
  REQUIRE(buffered->Run(counted.environment()).ok());
  for (const char* id : {"1", "2", "3", "4"}) buffered->ProcessEvents({EventNamed(id)}, nullptr);
  REQUIRE(sink->WaitForBatches(2));
  CHECK(sink->Batches().size() == 2);
  buffered->Shutdown(kSoon);
  CHECK(sink->Batches() == std::vector<std::string>{"1", "2", "3", "4"});
}

// TestTruncatingEvents
TEST_CASE("audit: an event that is too large loses its objects, or is dropped", "[audit]") {
  const TruncateOptions options{.max_event_size = 1000, .max_batch_size = 10'000};
  const auto through = [&options](EventPtr event, Counted& counted) {
    auto sink = std::make_shared<FakeBackend>();
    const BackendPtr truncating = NewTruncatingBackend(sink, options);
    REQUIRE(truncating->Run(counted.environment()).ok());
    bool processed = false;
    truncating->ProcessEvents({std::move(event)}, [&](bool value) { processed = value; });
    CHECK(processed);
    return sink->Batches().empty() ? nullptr : sink->First();
  };
  Counted counted;
  const EventPtr whole = through(EventNamed("1", 10), counted);
  CHECK(*whole->request_object == "\"AAAAAAAAAA\"");
  CHECK(whole->annotations.empty());
  const EventPtr cut = through(EventNamed("2", 1000), counted);
  CHECK(cut->request_object == nullptr);
  CHECK(cut->annotations.at("audit.k8s.io/truncated") == "true");
  auto large = std::make_shared<Event>();
  large->annotations["key"] = std::string(1000, 'A');
  CHECK(through(large, counted) == nullptr);
  CHECK(counted.Shows("apiserver_audit_error_total{plugin=\"truncate\"} 1"));
}

// TestSplittingBatches
TEST_CASE("audit: a batch that is too large is split", "[audit]") {
  for (const auto& [max_batch_size, batches] :
       {std::pair<std::size_t, std::size_t>{1'000'000, 1}, {1, 2}}) {
    auto sink = std::make_shared<FakeBackend>();
    const BackendPtr truncating =
        NewTruncatingBackend(sink, {.max_event_size = 100 << 10, .max_batch_size = max_batch_size});
    int answers = 0;
    truncating->ProcessEvents({EventNamed("1"), EventNamed("2")}, [&](bool) { ++answers; });
    CHECK(sink->Batches().size() == batches);
    CHECK(answers == 1);
  }
}

// TestUnion
TEST_CASE("audit: a union hands events to all of its backends", "[audit]") {
  CHECK(NewUnion({}) == nullptr);
  auto a = std::make_shared<FakeBackend>();
  CHECK(NewUnion({nullptr, a}) == a);
  auto b = std::make_shared<FakeBackend>(/*answers_at_once=*/false);
  const BackendPtr all = NewUnion({a, b});
  CHECK(all->name() == "union[fake,fake]");
  CHECK_FALSE(all->Holds());
  b->holds = true;
  CHECK(all->Holds());
  std::vector<bool> answers;
  all->ProcessEvents({EventNamed("1")}, [&](bool value) { answers.push_back(value); });
  CHECK(answers.empty());
  REQUIRE(b->AnswerOne(false));
  CHECK(answers == std::vector<bool>{false});
  all->ProcessEvent(Event(*EventNamed("2")));
  CHECK(a->Batches() == b->Batches());
  CHECK(a->Batches().size() == 2);
  all->Shutdown(kSoon);
  CHECK(a->shutdowns() + b->shutdowns() == 2);
}

TEST_CASE("audit: failures may be taken for success", "[audit]") {
  auto failing = std::make_shared<FakeBackend>();
  failing->processed = false;
  bool processed = false;
  NewIgnoreErrors(failing)->ProcessEvents({EventNamed("1")},
                                          [&](bool value) { processed = value; });
  CHECK(processed);
  NewIgnoreErrors(failing)->ProcessEvent(Event(*EventNamed("2")));
  CHECK(failing->Batches().size() == 2);
}

}  // namespace apiserver::inline v0::audit
