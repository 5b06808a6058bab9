#include "faults/disk.h"

#include <catch2/catch.hpp>
#include <string>

#include "apiserver/storage/rocks/engine.h"
#include "faults/disk_file_system.h"
#include "storage/rocks/open_over.h"

namespace apiserver::inline v0::faults {
namespace {

namespace kv = storage::kv;

Disk::Files Cut(const Disk& disk, Loss loss = Loss::kAll) {
  auto random = NewSeededRandom(1);
  return disk.AfterCut(loss, *random);
}

TEST_CASE("faults: a cut takes what was not synced", "[faults]") {
  Disk disk;
  Disk::InodeRef file;
  REQUIRE(disk.Create("/a", file) == Error::kNone);
  REQUIRE(disk.Append(*file, "one") == Error::kNone);
  REQUIRE(disk.Sync(*file) == Error::kNone);
  CHECK(Cut(disk).count("/a") == 0);
  REQUIRE(disk.SyncDirectory("/") == Error::kNone);
  REQUIRE(disk.Append(*file, "two") == Error::kNone);
  CHECK(Cut(disk).at("/a") == "one");
  CHECK(Cut(disk, Loss::kNone).at("/a") == "onetwo");
}

TEST_CASE("faults: a cut undoes a rename whose directory was not synced", "[faults]") {
  Disk disk(Disk::Files{{"/d/old", "new content"}, {"/d/target", "content"}});
  REQUIRE(disk.Rename("/d/old", "/d/target") == Error::kNone);
  CHECK(Cut(disk).at("/d/target") == "content");
  REQUIRE(disk.SyncDirectory("/d") == Error::kNone);
  CHECK(Cut(disk).at("/d/target") == "new content");
  CHECK(Cut(disk).count("/d/old") == 0);
}

TEST_CASE("faults: what a failed sync left behind never gets to the disk", "[faults]") {
  Disk disk(Disk::Files{{"/a", ""}});
  Disk::InodeRef file;
  REQUIRE(disk.Open("/a", file) == Error::kNone);
  REQUIRE(disk.Append(*file, "x") == Error::kNone);
  disk.Set(Fault{.operation = Operation::kSync});
  CHECK(disk.Sync(*file) == Error::kIo);
  CHECK(disk.reached());
  CHECK(disk.Sync(*file) == Error::kNone);
  CHECK(Cut(disk).at("/a").empty());
}

constexpr char kPath[] = "/data/store";

Result<kv::TxnResponse> Put(kv::Engine& engine, const std::string& key, std::size_t bytes) {
  kv::TxnRequest request;
  request.key = key;
  request.value = std::make_shared<const std::string>(bytes, 'x');
  return engine.Txn(Context::Background(), request);
}

Disk::Files StoreOfOne() {
  Disk disk;
  const auto env = NewDiskEnv(disk);
  auto engine = storage::rocks::OpenOver(*env, {.path = kPath}).value();
  REQUIRE(Put(*engine, "a", 1).ok());
  engine->Stop();
  return disk.Now();
}

TEST_CASE("faults: a read-only disk is refused, with what to check", "[faults]") {
  Disk disk(StoreOfOne());
  disk.SetReadOnly(true);
  const auto env = NewDiskEnv(disk);
  const Status status = storage::rocks::OpenOver(*env, {.path = kPath}).status();
  CHECK(status.reason() == Reason::kInternalError);
  const std::string message(status.message());
  CHECK(message.starts_with("cannot open the store in /data/store"));
  CHECK(message.find("Read-only file system") != std::string::npos);
  CHECK(message.find("check its disk and the permissions of its directory") != std::string::npos);
}

TEST_CASE("faults: a full disk is said, reads go on, and writes when there is space", "[faults]") {
  Disk disk(StoreOfOne());
  const auto env = NewDiskEnv(disk);
  auto engine = storage::rocks::OpenOver(*env, {.path = kPath}).value();
  disk.Set(
      Fault{.operation = Operation::kAppend, .nth = 1, .forever = true, .error = Error::kNoSpace});
  const Status status = Put(*engine, "b", 1).status();
  CHECK(status.reason() == Reason::kInternalError);
  CHECK(std::string(status.message()).find("free space on its disk") != std::string::npos);
  CHECK_FALSE(engine->Ready().ok());
  CHECK(engine->Range(Context::Background(), {.key = "a", .end = ""})->kvs.size() == 1);
  disk.Set(std::nullopt);
  while (!engine->Ready().ok()) {
  }
  CHECK(Put(*engine, "c", 1)->succeeded);
}

TEST_CASE("faults: a write that failed and yet happened is shown once it is known", "[faults]") {
  Disk disk(StoreOfOne());
  const auto env = NewDiskEnv(disk);
  auto engine = storage::rocks::OpenOver(*env, {.path = kPath}).value();
  auto tail = engine->NewTail("", 0).value();
  // It reaches the file; only its sync is refused.
  disk.Set(Fault{.operation = Operation::kSync});
  REQUIRE_FALSE(Put(*engine, "b", 1).ok());
  while (!engine->Ready().ok()) {
  }
  const auto found = engine->Range(Context::Background(), {.key = "b", .end = ""}).value();
  REQUIRE(found.kvs.size() == 1);
  kv::EventBatch batch;
  REQUIRE(tail->Next(batch, Waker()) == kv::Tail::State::kEvents);
  REQUIRE(batch.events.size() == 1);
  CHECK(batch.events[0].kv.key == "b");
  CHECK(batch.events[0].kv.mod_revision == found.kvs[0].mod_revision);
}

// How many cuts of the manifest of a store at revision 3 open as an older one.
int OlderStores(Disk::Files files) {
  std::string manifest;
  for (const auto& [path, content] : files) {
    if (path.find("MANIFEST") != std::string::npos) manifest = path;
  }
  int older = 0;
  for (std::size_t size = 0; size < files.at(manifest).size(); size += 7) {
    Disk::Files cut = files;
    cut[manifest].resize(size);
    Disk disk(cut);
    const auto env = NewDiskEnv(disk);
    auto engine = storage::rocks::OpenOver(*env, {.path = kPath});
    if (engine.ok() && (*engine)->CurrentRevision(Context::Background()).value() < 3) ++older;
  }
  return older;
}

TEST_CASE("faults: a manifest without its end does not open as an older store", "[faults]") {
  Disk disk;
  const auto env = NewDiskEnv(disk);
  for (const char* key : {"a", "b"}) {
    // An opening moves the log into a table.
    auto engine = storage::rocks::OpenOver(*env, {.path = kPath}).value();
    REQUIRE(Put(*engine, key, 1).ok());
  }
  storage::rocks::OpenOver(*env, {.path = kPath}).value()->Stop();
  Disk::Files files = disk.Now();
  CHECK(OlderStores(files) == 0);
  // It is the floor that tells.
  files.erase(std::string(kPath) + "/REVISION");
  CHECK(OlderStores(files) > 0);
}

TEST_CASE("faults: a value over the limit is refused and nothing else", "[faults]") {
  Disk disk;
  const auto env = NewDiskEnv(disk);
  auto engine = storage::rocks::OpenOver(*env, {.path = kPath, .value_bytes_max = 1000}).value();
  CHECK(Put(*engine, "a", 1001).status().reason() == Reason::kRequestEntityTooLarge);
  CHECK(engine->Ready().ok());
  CHECK(Put(*engine, "a", 1000)->revision == 2);
}

}  // namespace
}  // namespace apiserver::inline v0::faults
