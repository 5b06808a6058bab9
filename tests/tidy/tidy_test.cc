// The rules over the tree as it stands.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tidy/rules.h"

namespace {

namespace fs = std::filesystem;

tidy::SourceFile Read(const fs::path& path) {
  tidy::SourceFile file{path.generic_string(), {}};
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

// Headers and sources below the root of the checkout, where the tests' main has gone.
const tidy::Tree& Sources() {
  static const tidy::Tree tree = [] {
    tidy::Tree files;
    for (const char* top : {"include", "lib", "examples", "tests"}) {
      for (const auto& entry : fs::recursive_directory_iterator(top)) {
        const std::string kind = entry.path().extension().string();
        if (kind == ".h" || kind == ".cc") files.push_back(Read(entry.path()));
      }
    }
    return files;
  }();
  return tree;
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

tidy::House TheHouse() { return {Words(APISERVER_ROOMS), Words(APISERVER_LEAVES)}; }

void Report(const tidy::Complaints& complaints) {
  for (const std::string& complaint : complaints) FAIL_CHECK(complaint);
  SUCCEED();
}

}  // namespace

TEST_CASE("tidy: the tree that is looked at is the whole one", "[tidy]") {
  const auto has = [](const std::string& path) {
    return std::any_of(Sources().begin(), Sources().end(),
                       [&](const tidy::SourceFile& file) { return file.path == path; });
  };
  CHECK(has("include/apiserver/base/status.h"));
  CHECK(has("tests/tidy/rules.cc"));
  CHECK(Sources().size() > 100);
}

TEST_CASE("tidy: lines, functions and files stay within what a reader can hold", "[tidy]") {
  Report(tidy::Sizes(Sources()));
}

TEST_CASE("tidy: every file lies in a room and includes no room above it", "[tidy]") {
  Report(tidy::Includes(Sources(), TheHouse()));
}

TEST_CASE("tidy: public headers need nothing but the standard library", "[tidy]") {
  Report(tidy::PublicHeaders(Sources()));
}

TEST_CASE("tidy: sources say the namespace that both compilers understand", "[tidy]") {
  Report(tidy::SourceNamespaces(Sources()));
}

TEST_CASE("tidy: locks, clocks, files and the like are used where they belong", "[tidy]") {
  Report(tidy::ForbiddenNames(Sources(), TheHouse()));
}

TEST_CASE("tidy: no loop outlives the lock or pointer that its range needs", "[tidy]") {
  Report(tidy::Loops(Sources()));
}

TEST_CASE("tidy: nothing is left over from the work", "[tidy]") {
  Report(tidy::Leftovers(Sources()));
}

TEST_CASE("tidy: suppressions of the thread sanitizer are other people's, with reasons", "[tidy]") {
  const tidy::SourceFile file = Read(".ci/tsan.supp");
  CHECK_FALSE(file.lines.empty());
  Report(tidy::Suppressions(file));
}
