#include "storage/rocks/layout.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace apiserver::inline v0::storage::rocks {
namespace {

using std::string_literals::operator""s;

TEST_CASE("storage.rocks: keys keep their order on disk, versions stand newest first",
          "[storage.rocks]") {
  const std::vector<std::string> keys = {"\0"s, "\0a"s, "a", "a\0"s, "a\0\0"s,  "a\x01",
                                         "a/",  "ab",   "b", "\xff", "\xff\xff"};
  std::string before;
  for (const std::string& key : keys) {
    for (const Revision revision : {Revision{1} << 40, Revision{300}, Revision{2}}) {
      const std::string encoded = DataKey(key, revision);
      CHECK(before < encoded);
      before = encoded;
      const auto parts = DecodeDataKey(encoded);
      REQUIRE(parts);
      CHECK(parts->key == key);
      CHECK(parts->revision == revision);
      CHECK(DataBound(key) <= encoded);
    }
  }
  for (std::size_t i = 1; i < keys.size(); ++i) {
    CHECK(DataKey(keys[i - 1], 1) < DataBound(keys[i]));
    CHECK_FALSE(SameKey(DataKey(keys[i - 1], 7), DataKey(keys[i], 7)));
  }
  CHECK(SameKey(DataKey("a", 7), DataKey("a", 1000)));
}

TEST_CASE("storage.rocks: heads and changes are read as they were written", "[storage.rocks]") {
  std::string bytes = EncodeVersionHead({false, 1'000'000, 77}) + "value";
  std::string_view view = bytes;
  const auto head = TakeVersionHead(view);
  REQUIRE(head);
  CHECK_FALSE(head->deleted);
  CHECK(head->create_revision == 1'000'000);
  CHECK(head->lease == 77);
  CHECK(view == "value");
  bytes = EncodeVersionHead({.deleted = true});
  view = bytes;
  CHECK(TakeVersionHead(view)->deleted);
  const auto record =
      DecodeLogRecord(EncodeLogRecord({LogRecord::Type::kUpdate, 300, 70'000, "key\0x"s}));
  REQUIRE(record);
  CHECK(record->type == LogRecord::Type::kUpdate);
  CHECK(record->previous == 300);
  CHECK(record->previous_bytes == 70'000);
  CHECK(record->key == "key\0x"s);
}

TEST_CASE("storage.rocks: damaged bytes are refused", "[storage.rocks]") {
  CHECK_FALSE(DecodeNumber("1234567"));
  CHECK_FALSE(DecodeDataKey(""));
  CHECK_FALSE(DecodeDataKey("abc"));
  CHECK_FALSE(DecodeDataKey("a\0"s));
  CHECK_FALSE(DecodeDataKey("a\0\x02"s + std::string(8, 'x')));
  CHECK_FALSE(DecodeDataKey("a\0\x01"s + std::string(7, 'x')));
  CHECK_FALSE(DecodeLogRecord(""));
  CHECK_FALSE(
      DecodeLogRecord("\x04"
                      "aa"));
  CHECK_FALSE(DecodeLogRecord("\x01\xff"));
  std::string_view head = "\x01\x80";
  CHECK_FALSE(TakeVersionHead(head));
  head = "\x07";
  CHECK_FALSE(TakeVersionHead(head));
}

}  // namespace
}  // namespace apiserver::inline v0::storage::rocks
