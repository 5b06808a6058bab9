#include "explorer/files.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "gunzip.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): a test.

TEST_CASE("explorer: embedded files unpack to themselves, and their hashes differ", "[explorer]") {
  std::string hashes;
  for (const explorer::File& file : explorer::Files()) {
    CAPTURE(std::string(file.name));
    testing::Gunzip gunzip;
    CHECK(gunzip.Add(std::string(file.gzip)) == file.plain);
    CHECK(gunzip.ended());
    // The time of compression is left out, so that the same files make the same library.
    CHECK(file.gzip.substr(4, 4) == std::string_view("\0\0\0\0", 4));
    CHECK(file.hash.size() == 16);
    CHECK(hashes.find(file.hash) == std::string::npos);
    hashes += std::string(file.hash) + " ";
  }
  CHECK(explorer::FindFile("index.html")->plain.starts_with("<!doctype html>"));
  CHECK(explorer::FindFile("index") == nullptr);
  CHECK(explorer::FindFile("") == nullptr);
}
