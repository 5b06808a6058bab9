// The storage by itself: no server, no HTTP. This is how a host tests its own.
#include "threads.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "apiserver/base/sync.h"
#include "apiserver/testing/storage/rest_conformance_catch2.h"

using namespace apiserver;  // NOLINT: a test.
using threads::ThreadStat;
namespace kit = apiserver::testing::storage;

namespace {

struct Fixture {
  ~Fixture() {
    store->Destroy();
    pool->Stop();
  }
  void Poll(std::vector<ThreadStat> threads) {
    *now.Lock() = std::move(threads);
    REQUIRE(store->Poll(ctx).ok());
  }
  std::string Names() {
    std::string names;
    const runtime::List list = store->List(ctx, {}).value();
    for (const auto& item : list.items) names += std::string(item->name()) + " ";
    return names;
  }

  Guarded<std::vector<ThreadStat>> now;
  std::unique_ptr<ThreadPool> pool = NewThreadPool({.name = "threads", .threads = 1});
  Context ctx = Context::Background();
  std::shared_ptr<registry::PollingStore> store =
      threads::NewThreadStore(
          threads::NewThreadKind().value(),
          [this]() -> Result<std::vector<ThreadStat>> { return *now.Lock(); }, *pool,
          std::chrono::milliseconds(0))
          .value();
};

// What a stream writes.
class Text final : public http::ChunkWriter {
 public:
  std::size_t room() const override { return 65536; }
  void Write(std::string_view copied) override { text += copied; }
  void Take(std::string owned) override { text += owned; }
  void Write(std::shared_ptr<const void>, std::string_view shared) override { text += shared; }
  std::string text;
};

// A thread's name is its number: two digits for each character, which keeps the order of names.
std::string NumberOf(std::string_view name) {
  constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string number;
  for (const char c : name) number += std::to_string(10 + kAlphabet.find(c));
  return number;
}

Result<kit::RestOpened> OpenThreads() {
  auto fixture = std::make_shared<Fixture>();
  fixture->Poll({});
  const auto without = [fixture = fixture.get()](std::string_view name) {
    std::vector<ThreadStat> threads = *fixture->now.Lock();
    std::erase_if(threads, [&](const ThreadStat& t) { return std::to_string(t.id) == name; });
    return threads;
  };
  kit::RestOpened opened;
  opened.storage = fixture->store;
  opened.put = [=, fixture = fixture.get()](std::unique_ptr<runtime::Object> object) -> Status {
    std::vector<ThreadStat> threads = without(object->name());
    threads.push_back({.id = std::stoi(std::string(object->name())),
                       .command = std::string((*object)["status"]["command"].AsString())});
    fixture->Poll(std::move(threads));
    return {};
  };
  opened.remove = [=, fixture = fixture.get()](std::string_view, std::string_view name) -> Status {
    fixture->Poll(without(name));
    return {};
  };
  opened.keep = std::move(fixture);
  return opened;
}

// Judged by the cases that the library has for every rest::Storage. A thread has no labels: the
// cases know its states by its command.
const bool kRegistered = kit::RegisterRestConformance(
    "custom-storage",
    {.open = OpenThreads,
     .mark = [](runtime::Object& thread,
                std::string_view mark) { thread.Edit("status", "command") = mark; },
     .mark_of =
         [](const runtime::Object& thread) {
           return std::string(thread["status"]["command"].AsString());
         },
     .name = NumberOf,
     .lacks = {"create", "update", "delete", "deletecollection", "namespaces", "labels", "expiry",
               "validation", "finalizers"}});

}  // namespace

TEST_CASE("custom-storage: threads are listed as the last poll found them", "[custom-storage]") {
  Fixture fixture;
  fixture.Poll({{.id = 7, .command = "main", .state = "S", .cpu_milliseconds = 120},
                {.id = 9, .command = "pool-1", .state = "R", .cpu_milliseconds = 5}});
  CHECK(fixture.Names() == "7 9 ");
  const auto thread = fixture.store->Get(fixture.ctx, "7", {}).value();
  CHECK((*thread)["status"]["command"].AsString() == "main");
  CHECK((*thread)["status"]["cpuMilliseconds"].AsInt() == 120);

  fixture.Poll({{.id = 9, .command = "pool-1", .state = "R", .cpu_milliseconds = 5}});
  CHECK(fixture.Names() == "9 ");
  CHECK(fixture.store->Get(fixture.ctx, "7", {}).status().code() == 404);
}

TEST_CASE("custom-storage: a thread's columns are those of kubectl get", "[custom-storage]") {
  Fixture fixture;
  fixture.Poll({{.id = 7, .command = "main", .state = "S", .cpu_milliseconds = 120}});
  const auto list = fixture.store->List(fixture.ctx, {}).value();
  const auto table = fixture.store->ConvertToTable(fixture.ctx, list.items, {}).value();
  std::string columns;
  for (const auto& column : table.columns) columns += column.name + " ";
  CHECK(columns == "Name Command State CPU ms ");
}

TEST_CASE("custom-storage: a log has a line a change, and ends with its thread",
          "[custom-storage]") {
  Fixture fixture;
  fixture.Poll({{.id = 7, .state = "S", .cpu_milliseconds = 1}});
  const auto storage = threads::NewThreadLog(fixture.store);
  rest::ResourceStreamer* log = rest::Capabilities::Of(*storage).streamer;
  REQUIRE(log != nullptr);
  CHECK(log->InputStream(fixture.ctx, "8", {}).status().code() == 404);

  auto input = log->InputStream(fixture.ctx, "7", {}).value();
  fixture.Poll({{.id = 7, .state = "R", .cpu_milliseconds = 2}});
  fixture.Poll({{.id = 7, .state = "R", .cpu_milliseconds = 2}, {.id = 8}});
  fixture.Poll({{.id = 8}});

  Text out;
  http::Pull pulled = http::Pull::kMore;
  while (pulled == http::Pull::kMore) pulled = input.body->Next(out, {});
  CHECK(pulled == http::Pull::kEnd);
  CHECK(out.text == "state=S cpu=1ms\nstate=R cpu=2ms\ngone\n");
}

TEST_CASE("custom-storage: this process has a thread of its own number", "[custom-storage]") {
  const auto threads = threads::ProcessThreads()();
  REQUIRE(threads.ok());
  const auto main = std::find_if(threads->begin(), threads->end(),
                                 [](const ThreadStat& thread) { return thread.id == getpid(); });
  REQUIRE(main != threads->end());
  CHECK_FALSE(main->command.empty());
  CHECK(main->state == "R");
}
