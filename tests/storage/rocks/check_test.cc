#include "apiserver/storage/rocks/check.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "apiserver/storage/rocks/engine.h"
#include "storage/rocks/database.h"
#include "storage/rocks/temp_directory.h"

namespace apiserver::inline v0::storage::rocks {
namespace {

// Makes a store with one key in `directory` and closes it.
void MakeStore(const TempDirectory& directory) {
  kv::TxnRequest request;
  request.key = "a";
  request.value = std::make_shared<const std::string>("1");
  REQUIRE(Open({.path = directory.path()}).value()->Txn(Context::Background(), request).ok());
}

// The names, times and bytes of all files.
std::map<std::string, std::string> Contents(const TempDirectory& directory) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    std::ifstream file(entry.path());
    contents[entry.path()] =
        std::to_string(entry.last_write_time().time_since_epoch().count()) + " " +
        std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return contents;
}

TEST_CASE("storage.rocks: a store is checked without changing a file", "[storage.rocks]") {
  TempDirectory directory;
  MakeStore(directory);
  const auto before = Contents(directory);

  CHECK(Check(directory.path()).ok());

  CHECK(Contents(directory) == before);
}

TEST_CASE("storage.rocks: a check tells a missing store from an empty directory",
          "[storage.rocks]") {
  TempDirectory directory;
  CHECK(Check(directory.path()).reason() == Reason::kNotFound);
  std::filesystem::create_directories(directory.path());
  CHECK(Check(directory.path()).ok());
}

TEST_CASE("storage.rocks: a check says what an opening would", "[storage.rocks]") {
  TempDirectory directory;
  MakeStore(directory);
  std::ofstream(directory.path() + "/REVISION") << "7 7\n";
  const Status older = Check(directory.path());
  CHECK(older.reason() == Reason::kInternalError);
  CHECK(older.message() == Open({.path = directory.path()}).status().message());
  std::filesystem::remove(directory.path() + "/REVISION");
  REQUIRE(Check(directory.path()).ok());
  {
    auto database = Database::Open({.path = directory.path()}).value();
    rocksdb::WriteBatch batch;
    REQUIRE(batch.Put(database->meta(), "format", EncodeNumber(2)).ok());
    REQUIRE(database->Write(batch, true).ok());
  }

  CHECK(Check(directory.path()).message() ==
        "the store in " + directory.path() + " has format 2; this version reads formats up to 1");
}

TEST_CASE("storage.rocks: a check refuses a store with a family of a newer version",
          "[storage.rocks]") {
  TempDirectory directory;
  MakeStore(directory);
  {
    rocksdb::DB* opened = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    REQUIRE(rocksdb::DB::Open({}, directory.path(),
                              {{rocksdb::kDefaultColumnFamilyName, {}}, {"data", {}}, {"log", {}}},
                              &handles, &opened)
                .ok());
    const std::unique_ptr<rocksdb::DB> database(opened);
    handles.push_back(nullptr);
    REQUIRE(database->CreateColumnFamily({}, "newer", &handles.back()).ok());
    for (auto* handle : handles) REQUIRE(database->DestroyColumnFamilyHandle(handle).ok());
  }

  const Status status = Check(directory.path());

  CHECK(status.reason() == Reason::kInternalError);
  CHECK(std::string(status.message()).find("was written by a newer version") != std::string::npos);
}

TEST_CASE("storage.rocks: a check leaves a torn write to the opening", "[storage.rocks]") {
  TempDirectory directory;
  MakeStore(directory);
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    if (entry.path().extension() != ".log" || entry.file_size() == 0) continue;
    std::ofstream(entry.path(), std::ios::app) << std::string(64, '\0');
  }
  const auto before = Contents(directory);

  CHECK(Check(directory.path()).ok());

  CHECK(Contents(directory) == before);
}

}  // namespace
}  // namespace apiserver::inline v0::storage::rocks
