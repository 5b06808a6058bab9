#include "apiserver/storage/memory/engine.h"

#include <catch2/catch.hpp>
#include <string>

#include "apiserver/base/sync.h"

namespace apiserver::inline v0::storage::memory {
namespace {

class ManualClock final : public Clock {
 public:
  Monotonic Now() const override { return *now_.Lock(); }
  Wall WallNow() const override { return Wall(); }
  void Advance(std::chrono::seconds by) { *now_.Lock() += by; }

 private:
  Guarded<Monotonic> now_{Monotonic(std::chrono::hours(1))};
};

const kv::HistoryOptions kKeepAll{.window = {}, .events_max = 0, .bytes_max = 0};

kv::Revision Write(kv::Engine& engine, const std::string& value) {
  const Context ctx = Context::Background();
  const auto now = engine.Range(ctx, {.key = "a", .end = ""}).value();
  kv::TxnRequest request;
  request.key = "a";
  request.value = std::make_shared<const std::string>(value);
  request.expected_mod_revision = now.kvs.empty() ? 0 : now.kvs[0].mod_revision;
  const auto response = engine.Txn(ctx, request).value();
  REQUIRE(response.succeeded);
  return response.revision;
}

TEST_CASE("storage.memory: history is kept for the window", "[storage.memory]") {
  ManualClock clock;
  kv::HistoryOptions history = kKeepAll;
  history.window = std::chrono::minutes(5);
  auto engine = NewEngine({.clock = clock, .history = history});
  for (int i = 0; i < 10; ++i) Write(*engine, "x");
  CHECK(engine->CompactedRevision() == 0);
  clock.Advance(std::chrono::minutes(6));
  Write(*engine, "x");
  CHECK(engine->CompactedRevision() == 2);
  clock.Advance(std::chrono::minutes(6));
  Write(*engine, "x");
  CHECK(engine->CompactedRevision() == 12);
}

TEST_CASE("storage.memory: what automatic compaction leaves is trimmed by later writes",
          "[storage.memory]") {
  kv::HistoryOptions history = kKeepAll;
  history.events_max = 100;
  auto engine = NewEngine({.history = history});
  for (int i = 0; i < 1000; ++i) Write(*engine, std::string(100, 'x'));
  CHECK(engine->CompactedRevision() >= 890);
  CHECK(engine->GetStats().history_bytes <= 120 * 100);
  CHECK(engine->GetStats().bytes == 100);
}

TEST_CASE("storage.memory: the bytes of history are bounded", "[storage.memory]") {
  kv::HistoryOptions history = kKeepAll;
  history.bytes_max = 10'000;
  auto engine = NewEngine({.history = history});
  for (int i = 0; i < 500; ++i) {
    Write(*engine, std::string(1000, 'x'));
    REQUIRE(engine->GetStats().history_bytes <= 12'000);
  }
}

TEST_CASE("storage.memory: revisions begin where they are told to, and nothing is before them",
          "[storage.memory]") {
  auto engine = NewEngine({.first_revision = 1000});
  const Context ctx = Context::Background();

  CHECK(engine->CurrentRevision(ctx).value() == 1000);
  CHECK(engine->CompactedRevision() == 1000);
  CHECK(engine->Range(ctx, {.key = "a", .end = "", .at_revision = 999}).status().reason() ==
        Reason::kExpired);
  CHECK(Write(*engine, "x") == 1001);
  kv::EventBatch batch;
  const auto old = engine->NewTail("", 1000).value();
  CHECK(old->Next(batch, Waker()) == kv::Tail::State::kEnd);
  CHECK(old->status().reason() == Reason::kExpired);
  const auto tail = engine->NewTail("", 1001).value();
  CHECK(tail->Next(batch, Waker()) == kv::Tail::State::kEvents);
  CHECK(batch.events.size() == 1);
}

TEST_CASE("storage.memory: values are shared, not copied", "[storage.memory]") {
  auto engine = NewEngine();
  auto tail = engine->NewTail("", 0).value();
  kv::TxnRequest request;
  request.key = "a";
  request.value = std::make_shared<const std::string>("1");
  REQUIRE(engine->Txn(Context::Background(), request)->succeeded);
  const auto read = engine->Range(Context::Background(), {.key = "a", .end = ""}).value();
  CHECK(read.kvs[0].value == request.value);
  kv::EventBatch batch;
  REQUIRE(tail->Next(batch, Waker()) == kv::Tail::State::kEvents);
  CHECK(batch.events[0].kv.value == request.value);
}

TEST_CASE("storage.memory: a tail may outlive its engine", "[storage.memory]") {
  auto engine = NewEngine();
  auto tail = engine->NewTail("", 0).value();
  engine.reset();
  kv::EventBatch batch;
  CHECK(tail->Next(batch, Waker()) == kv::Tail::State::kEnd);
  CHECK(tail->status().reason() == Reason::kServiceUnavailable);
}

}  // namespace
}  // namespace apiserver::inline v0::storage::memory
