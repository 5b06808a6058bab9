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

TEST_CASE("explorer: all but the editor is at most 40 KiB compressed", "[explorer]") {
  std::size_t bytes = 0;
  std::size_t editor = 0;
  for (const explorer::File& file : explorer::Files()) {
    (file.name == "editor.js" ? editor : bytes) += file.gzip.size();
  }

  CHECK(bytes <= 40 << 10);
  CHECK(editor > 0);
}

TEST_CASE("explorer: index.html loads each module ahead, but not the editor", "[explorer]") {
  const std::string_view index = explorer::FindFile("index.html")->plain;

  for (const explorer::File& file : explorer::Files()) {
    if (!file.name.ends_with(".js")) continue;
    CAPTURE(std::string(file.name));
    const bool loaded = index.find("\"" + std::string(file.name) + "\"") != std::string_view::npos;
    CHECK(loaded == (file.name != "editor.js"));
  }
}
