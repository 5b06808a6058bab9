#include "apiserver/storage/rocks/engine.h"

#include <rocksdb/write_batch.h>
#include <sys/resource.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "apiserver/base/sync.h"
#include "storage/rocks/database.h"
#include "storage/rocks/temp_directory.h"

namespace apiserver::inline v0::storage::rocks {
namespace {

const kv::HistoryOptions kKeepAllEvents{.window = {}, .events_max = 0, .bytes_max = 0};

Options OptionsFor(const TempDirectory& directory) {
  return {.path = directory.path(), .history = kKeepAllEvents};
}

Result<kv::TxnResponse> Put(kv::Engine& engine, const std::string& key, const std::string& value,
                            Revision expected = 0) {
  kv::TxnRequest request;
  request.key = key;
  request.value = std::make_shared<const std::string>(value);
  request.expected_mod_revision = expected;
  return engine.Txn(Context::Background(), request);
}

TEST_CASE("storage.rocks: a path is required", "[storage.rocks]") {
  CHECK(Open({}).status().reason() == Reason::kInvalid);
}

TEST_CASE("storage.rocks: the directory is its owner's only", "[storage.rocks]") {
  TempDirectory directory;
  auto engine = Open(OptionsFor(directory));
  REQUIRE(engine.ok());
  const auto mode = std::filesystem::status(directory.path()).permissions();
  CHECK((mode & std::filesystem::perms::all) == std::filesystem::perms::owner_all);
}

TEST_CASE("storage.rocks: a store in use is refused and its LOCK named", "[storage.rocks]") {
  TempDirectory directory;
  auto first = Open(OptionsFor(directory));
  REQUIRE(first.ok());
  const Status second = Open(OptionsFor(directory)).status();
  CHECK(second.reason() == Reason::kServiceUnavailable);
  CHECK(std::string(second.message()).find(directory.path() + "/LOCK") != std::string::npos);
  (*first)->Stop();
  CHECK(Open(OptionsFor(directory)).ok());
}

TEST_CASE("storage.rocks: a directory that cannot be made is an error", "[storage.rocks]") {
  TempDirectory directory;
  std::filesystem::create_directories(directory.path());
  std::ofstream(directory.path() + "/file") << "x";
  const Status status = Open({.path = directory.path() + "/file/store"}).status();
  CHECK(status.reason() == Reason::kInternalError);
}

TEST_CASE("storage.rocks: a newer format is refused and told", "[storage.rocks]") {
  TempDirectory directory;
  REQUIRE(Open(OptionsFor(directory)).ok());
  {
    auto database = Database::Open(OptionsFor(directory)).value();
    rocksdb::WriteBatch batch;
    REQUIRE(batch.Put(database->meta(), "format", EncodeNumber(2)).ok());
    REQUIRE(database->Write(batch, true).ok());
  }
  const Status status = Open(OptionsFor(directory)).status();
  CHECK(status.reason() == Reason::kInternalError);
  CHECK(status.message() ==
        "the store in " + directory.path() + " has format 2; this version reads formats up to 1");
}

TEST_CASE("storage.rocks: a store that does not say its format is damaged", "[storage.rocks]") {
  TempDirectory directory;
  REQUIRE(Put(*Open(OptionsFor(directory)).value(), "a", "1").ok());
  {
    auto database = Database::Open(OptionsFor(directory)).value();
    CHECK_FALSE(database->fresh());
    CHECK(database->Probe().ok());
    rocksdb::WriteBatch batch;
    REQUIRE(batch.Delete(database->meta(), "format").ok());
    REQUIRE(database->Write(batch, true).ok());
  }
  CHECK(Open(OptionsFor(directory)).status().message() ==
        "the store is damaged: it does not say its format");
}

TEST_CASE("storage.rocks: a store older than it has been is damaged", "[storage.rocks]") {
  TempDirectory directory;
  REQUIRE(Put(*Open(OptionsFor(directory)).value(), "a", "1").ok());
  const std::string file = directory.path() + "/REVISION";
  std::ofstream(file) << "7 7\n";
  CHECK(Open(OptionsFor(directory)).status().message() ==
        "the store is damaged: it holds revision 2 and has been at revision 7; check its disk and "
        "restore it from a backup");
  std::ofstream(file) << "1 7\n";
  CHECK(Open(OptionsFor(directory)).status().message() ==
        "the store is damaged: " + file +
            " cannot be read; if the store is otherwise right, delete "
            "it");
  std::filesystem::remove(file);
  CHECK(Open(OptionsFor(directory)).ok());
}

TEST_CASE("storage.rocks: a missing revision is damage", "[storage.rocks]") {
  TempDirectory directory;
  {
    auto engine = Open(OptionsFor(directory)).value();
    for (const char* key : {"a", "b", "c"}) REQUIRE(Put(*engine, key, "1").ok());
  }
  {
    auto database = Database::Open(OptionsFor(directory)).value();
    rocksdb::WriteBatch batch;
    REQUIRE(batch.Delete(database->data(), DataKey("b", 3)).ok());
    REQUIRE(database->Write(batch, true).ok());
  }
  CHECK(Open(OptionsFor(directory)).status().message() ==
        "the store is damaged: of the last 3 revisions only 2 are there");
}

TEST_CASE("storage.rocks: a tail tells of a missing change", "[storage.rocks]") {
  TempDirectory directory;
  {
    auto engine = Open(OptionsFor(directory)).value();
    for (const char* key : {"a", "b", "c"}) REQUIRE(Put(*engine, key, "1").ok());
  }
  {
    auto database = Database::Open(OptionsFor(directory)).value();
    rocksdb::WriteBatch batch;
    REQUIRE(batch.Delete(database->log(), EncodeNumber(3)).ok());
    REQUIRE(database->Write(batch, true).ok());
  }
  auto engine = Open(OptionsFor(directory)).value();
  auto tail = engine->NewTail("", 1).value();
  kv::EventBatch batch;
  CHECK(tail->Next(batch, Waker()) == kv::Tail::State::kEnd);
  CHECK(tail->status().message() == "the store is damaged: the change of revision 3 is missing");
}

TEST_CASE("storage.rocks: a log that does not fit the keys is damage", "[storage.rocks]") {
  TempDirectory directory;
  REQUIRE(Put(*Open(OptionsFor(directory)).value(), "a", "1").ok());
  {
    auto database = Database::Open(OptionsFor(directory)).value();
    rocksdb::WriteBatch batch;
    REQUIRE(batch.Delete(database->log(), EncodeNumber(2)).ok());
    REQUIRE(database->Write(batch, true).ok());
  }
  const Status status = Open(OptionsFor(directory)).status();
  CHECK(status.reason() == Reason::kInternalError);
  CHECK(std::string(status.message()).starts_with("the store is damaged"));
}

TEST_CASE("storage.rocks: a damaged table is an error, not a lost key", "[storage.rocks]") {
  TempDirectory directory;
  {
    Options options = OptionsFor(directory);
    options.write_buffer_bytes = 64 << 10;
    auto engine = Open(options).value();
    for (int i = 0; i < 400; ++i) {
      REQUIRE(Put(*engine, "k" + std::to_string(i), std::string(1024, 'x')).ok());
    }
  }
  int damaged = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    if (entry.path().extension() != ".sst" || entry.file_size() < 20'000) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5000);
    file.write(std::string(64, '!').data(), 64);
    ++damaged;
  }
  REQUIRE(damaged > 0);
  CHECK(Open(OptionsFor(directory)).status().reason() == Reason::kInternalError);
}

TEST_CASE("storage.rocks: who may not wait is told to, or answered from memory",
          "[storage.rocks]") {
  TempDirectory directory;
  const Context loop = Context::Background().WithMayBlock(false);
  {
    auto engine = Open(OptionsFor(directory)).value();
    REQUIRE(Put(*engine, "a", "1").ok());
    CHECK(engine->Range(loop, {.key = "a", .end = ""}).ok());
    kv::TxnRequest request;
    request.key = "b";
    request.value = std::make_shared<const std::string>("1");
    CHECK(engine->Txn(loop, request).status().reason() == Reason::kWouldBlock);
    CHECK(engine->CurrentRevision(loop).value() == 2);
  }
  auto engine = Open(OptionsFor(directory)).value();
  CHECK(engine->Range(loop, {.key = "a", .end = ""}).status().reason() == Reason::kWouldBlock);
  kv::RangeRequest count{.key = "a", .end = ""};
  count.count_only = true;
  CHECK(engine->Range(loop, count)->count == 1);
}

TEST_CASE("storage.rocks: asynchronous writes need no thread each", "[storage.rocks]") {
  TempDirectory directory;
  auto engine = Open(OptionsFor(directory)).value();
  constexpr int kWrites = 500;
  struct Seen {
    int answers = 0;
    Revision last = 0;
    bool ordered = true;
  };
  Guarded<Seen> seen;
  for (int i = 0; i < kWrites; ++i) {
    kv::TxnRequest request;
    request.key = "k" + std::to_string(i);
    request.value = std::make_shared<const std::string>("v");
    engine->TxnAsync(Context::Background().WithMayBlock(false), request, [&seen](auto response) {
      // Notified under the lock: the test may end as soon as it sees the last answer.
      auto state = seen.Lock();
      state->ordered = state->ordered && response.ok() && response->revision > state->last;
      if (response.ok()) state->last = response->revision;
      ++state->answers;
      seen.NotifyAll();
    });
  }
  auto state = seen.Lock();
  state.Wait([&state] { return state->answers == kWrites; });
  CHECK(state->ordered);
  CHECK(state->last == kWrites + 1);
}

TEST_CASE("storage.rocks: stopping answers asynchronous writes", "[storage.rocks]") {
  TempDirectory directory;
  auto engine = Open(OptionsFor(directory)).value();
  std::atomic<int> answers = 0;
  for (int i = 0; i < 100; ++i) {
    kv::TxnRequest request;
    request.key = "k" + std::to_string(i);
    request.value = std::make_shared<const std::string>("v");
    engine->TxnAsync(Context::Background(), request, [&answers](auto) { ++answers; });
  }
  engine->Stop();
  CHECK(answers == 100);
}

TEST_CASE("storage.rocks: history stays within its limits by itself", "[storage.rocks]") {
  TempDirectory directory;
  Options options = OptionsFor(directory);
  options.history.events_max = 200;
  auto engine = Open(options).value();
  Revision held = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto response = Put(*engine, "a", std::string(100, 'x'), held).value();
    REQUIRE(response.succeeded);
    held = response.revision;
  }
  CHECK(engine->CompactedRevision() > 700);
  CHECK(engine->GetStats().history_bytes < 60'000);
  CHECK(engine->GetStats().bytes == 100);
}

// The sum of the sizes of the files in a directory.
std::size_t FileBytes(const std::string& path) {
  std::size_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(path)) {
    std::error_code gone;
    const auto size = std::filesystem::file_size(file.path(), gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

TEST_CASE("storage.rocks: the figures tell the bytes of the files", "[storage.rocks]") {
  TempDirectory directory;
  Options options = OptionsFor(directory);
  options.write_buffer_bytes = std::size_t{256} << 10;
  {
    auto engine = Open(options).value();
    const std::size_t empty = engine->GetStats().file_bytes;
    CHECK(empty > 0);
    REQUIRE(Put(*engine, "a", std::string(20'000, 'x')).ok());
    // The log grows at once, before any table is written.
    CHECK(engine->GetStats().file_bytes >= empty + 20'000);
    for (int i = 0; i < 100; ++i) {
      REQUIRE(Put(*engine, "b" + std::to_string(i), std::string(20'000, 'x')).ok());
    }
    CHECK(engine->GetStats().file_bytes >= 2'000'000);
  }
  // The opened store merges its tables soon, and the count is that of its directory then.
  const auto engine = Open(options).value();
  const auto close = [&] {
    const auto files = static_cast<double>(FileBytes(directory.path()));
    return static_cast<double>(engine->GetStats().file_bytes) == Approx(files).epsilon(0.1);
  };
  // Merging may begin again a moment later: one look that finds them equal is enough.
  const auto until = RealClock().Now() + std::chrono::seconds(60);
  bool equal = close();
  while (!equal && RealClock().Now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    equal = close();
  }
  CHECK(equal);
}

TEST_CASE("storage.rocks: what compaction left is gone from the disk", "[storage.rocks]") {
  TempDirectory directory;
  {
    auto engine = Open(OptionsFor(directory)).value();
    Revision held = 0;
    for (int i = 0; i < 100; ++i) held = Put(*engine, "a", "v", held)->revision;
    kv::TxnRequest erase;
    erase.key = "a";
    erase.expected_mod_revision = held;
    REQUIRE(engine->Txn(Context::Background(), erase)->succeeded);
    const Revision last = Put(*engine, "b", "v")->revision;
    REQUIRE(engine->Compact(Context::Background(), last).ok());
    while (engine->GetStats().history_bytes > 0) {
    }
  }
  auto database = Database::Open(OptionsFor(directory)).value();
  for (rocksdb::ColumnFamilyHandle* family : {database->data(), database->log()}) {
    auto it = database->Iterate(family);
    int entries = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++entries;
    CHECK(entries == 1);
  }
}

}  // namespace
}  // namespace apiserver::inline v0::storage::rocks
