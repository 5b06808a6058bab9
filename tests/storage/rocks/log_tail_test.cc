#include "storage/rocks/log_tail.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "apiserver/storage/rocks/engine.h"
#include "storage/rocks/temp_directory.h"

namespace apiserver::inline v0::storage::rocks {
namespace {

// A log of two small writes and, from byte `large` on, one of 20,000 bytes.
struct Log {
  TempDirectory directory;
  std::string path;
  std::string bytes;
  std::size_t large = 0;

  Log() {
    auto engine = Open({.path = directory.path()}).value();
    Put(*engine, "a", "1");
    Put(*engine, "b", "2");
    for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
      if (entry.path().extension() == ".log") path = std::max(path, entry.path().string());
    }
    large = std::filesystem::file_size(path);
    Put(*engine, "c", std::string(20'000, 'c'));
    engine.reset();
    // As if it had not been stopped, but its power been cut.
    std::filesystem::remove(directory.path() + "/REVISION");
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    bytes = text.str();
  }

  static void Put(kv::Engine& engine, const std::string& key, const std::string& value) {
    kv::TxnRequest request;
    request.key = key;
    request.value = std::make_shared<const std::string>(value);
    REQUIRE(engine.Txn(Context::Background(), request)->succeeded);
  }
  void Zero(std::size_t begin, std::size_t end) {
    std::fill(bytes.begin() + static_cast<long>(begin), bytes.begin() + static_cast<long>(end),
              '\0');
  }
  // The revision that the store has with these bytes for a log.
  Result<kv::Revision> Reopen() const {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    auto engine = Open({.path = directory.path()});
    if (!engine.ok()) return engine.status();
    return (*engine)->CurrentRevision(Context::Background());
  }
};

TEST_CASE("storage.rocks: a whole log has no torn tail", "[storage.rocks]") {
  const Log log;
  const LogTail tail = FindLogTail(log.bytes);
  CHECK_FALSE(tail.torn_at);
  CHECK_FALSE(tail.damaged_at);
  CHECK(log.Reopen().value() == 4);
}

TEST_CASE("storage.rocks: a last write with a hole is a write that never was", "[storage.rocks]") {
  Log log;
  log.Zero(8192, 12288);
  CHECK(FindLogTail(log.bytes).torn_at == log.large);
  CHECK(log.Reopen().value() == 3);
}

TEST_CASE("storage.rocks: a last write without its beginning never was", "[storage.rocks]") {
  Log log;
  log.Zero(log.large, 4096);
  CHECK(FindLogTail(log.bytes).torn_at == log.large);
  CHECK(log.Reopen().value() == 3);
}

TEST_CASE("storage.rocks: a log that ends in a write is cut off before it", "[storage.rocks]") {
  Log log;
  log.bytes.resize(log.bytes.size() - 1);
  CHECK(FindLogTail(log.bytes).torn_at == log.large);
  CHECK(log.Reopen().value() == 3);
}

TEST_CASE("storage.rocks: a hole before a confirmed write is damage", "[storage.rocks]") {
  Log log;
  log.Zero(0, 100);
  CHECK(FindLogTail(log.bytes).damaged_at == 0U);
  const Status status = log.Reopen().status();
  CHECK(status.reason() == Reason::kInternalError);
  CHECK(std::string(status.message()).starts_with("the store is damaged: " + log.path));
}

TEST_CASE("storage.rocks: a flipped bit in the last write is damage, not a torn write",
          "[storage.rocks]") {
  Log log;
  const std::size_t at = GENERATE(0, 4, 5, 6, 7, 1000);
  INFO(at);
  log.bytes[log.large + at] ^= 0x40;
  CHECK(log.Reopen().status().reason() == Reason::kInternalError);
}

}  // namespace
}  // namespace apiserver::inline v0::storage::rocks
