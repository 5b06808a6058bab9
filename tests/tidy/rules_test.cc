// Each rule refuses its violation and accepts the nearest thing that is allowed.
#include "tidy/rules.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace tidy {
namespace {

const House kHouse{{"base", "storage", "storage.kv", "rest", "endpoints"},
                   {"storage.rocks", "testing.server", "program.signals", "program"}};

Tree One(std::string path, std::vector<std::string> lines) {
  return {SourceFile{std::move(path), std::move(lines)}};
}

Complaints IncludesOf(const std::string& path, const std::string& include) {
  return Includes(One(path, {include}), kHouse);
}

// A header with everything it must have, and one line more.
Complaints HeaderWith(const std::string& line) {
  return PublicHeaders(One("include/apiserver/base/a.h",
                           {"#pragma once", line, "namespace apiserver::inline v0 {", "}"}));
}

Complaints NamesIn(const std::string& path, const std::string& line) {
  return ForbiddenNames(One(path, {line}), kHouse);
}

SourceFile FunctionOf(std::size_t lines) {
  SourceFile file{"lib/base/a.cc", {"int F() {"}};
  while (file.lines.size() + 1 < lines) file.lines.emplace_back("  G();");
  file.lines.emplace_back("}");
  return file;
}

}  // namespace

TEST_CASE("tidy: a line of 101 columns is refused", "[tidy]") {
  CHECK(Sizes(One("lib/base/a.cc", {"", std::string(101, 'x')})) ==
        Complaints{"lib/base/a.cc:2: the line has more than 100 columns"});
  CHECK(Sizes(One("lib/base/a.cc", {std::string(100, 'x')})).empty());
  CHECK(Sizes(One("lib/base/a.cc", {std::string(99, 'x') + "\xC3\xA4"})).empty());
}

TEST_CASE("tidy: a file of 801 lines is refused", "[tidy]") {
  CHECK(Sizes(One("lib/base/a.cc", std::vector<std::string>(801))) ==
        Complaints{"lib/base/a.cc:801: the file has more than 800 lines"});
  CHECK(Sizes(One("lib/base/a.cc", std::vector<std::string>(800))).empty());
}

TEST_CASE("tidy: a function of 71 lines is refused", "[tidy]") {
  CHECK(Sizes({FunctionOf(71)}) ==
        Complaints{"lib/base/a.cc:1: the function has more than 70 lines"});
  CHECK(Sizes({FunctionOf(70)}).empty());
}

TEST_CASE("tidy: a file in an unknown room is refused", "[tidy]") {
  CHECK(IncludesOf("lib/cellar/a.cc", "") ==
        Complaints{"lib/cellar/a.cc:1: the file lies in no room"});
  CHECK(IncludesOf("include/apiserver/cellar/a.h", "") ==
        Complaints{"include/apiserver/cellar/a.h:1: the file lies in no room"});
  CHECK(IncludesOf("include/apiserver/a.h", "").size() == 1);
  // Only testing.server is a room, its parent is not.
  CHECK(IncludesOf("lib/testing/a.cc", "").size() == 1);
}

TEST_CASE("tidy: a folder within a room belongs to the room", "[tidy]") {
  CHECK(IncludesOf("lib/endpoints/handlers/a.cc", "#include \"apiserver/rest/a.h\"").empty());
  CHECK(IncludesOf("lib/rest/deep/er/a.cc", "#include \"endpoints/a.h\"") ==
        Complaints{"lib/rest/deep/er/a.cc:1: room rest includes endpoints, which stands above it"});
}

TEST_CASE("tidy: an include of a room above is refused, public or private", "[tidy]") {
  const Complaints expected{
      "lib/storage/a.cc:1: room storage includes endpoints, which stands above it"};
  CHECK(IncludesOf("lib/storage/a.cc", "#include \"apiserver/endpoints/a.h\"") == expected);
  CHECK(IncludesOf("lib/storage/a.cc", "#include \"endpoints/handlers/a.h\"") == expected);
  CHECK(IncludesOf("include/apiserver/storage/a.h", "#include \"apiserver/rest/a.h\"").size() == 1);
  CHECK(IncludesOf("lib/endpoints/a.cc", "#include \"apiserver/storage/a.h\"").empty());
  CHECK(IncludesOf("lib/endpoints/a.cc", "#include \"endpoints/b.h\"").empty());
}

TEST_CASE("tidy: a sub-room has a rank of its own", "[tidy]") {
  CHECK(IncludesOf("lib/storage/a.cc", "#include \"apiserver/storage/kv/engine.h\"") ==
        Complaints{"lib/storage/a.cc:1: room storage includes storage.kv, which stands above it"});
  CHECK(IncludesOf("lib/storage/kv/a.cc", "#include \"apiserver/storage/interface.h\"").empty());
}

TEST_CASE("tidy: a room that includes a leaf is refused", "[tidy]") {
  CHECK(IncludesOf("lib/endpoints/a.cc", "#include \"apiserver/storage/rocks/engine.h\"") ==
        Complaints{"lib/endpoints/a.cc:1: room endpoints includes leaf storage.rocks"});
  CHECK(IncludesOf("lib/testing/server/a.cc", "#include \"apiserver/storage/rocks/engine.h\"")
            .empty());
  CHECK(IncludesOf("lib/storage/rocks/a.cc", "#include \"apiserver/testing/server/server.h\"") ==
        Complaints{"lib/storage/rocks/a.cc:1: room storage.rocks includes testing.server, which "
                   "stands above it"});
}

TEST_CASE("tidy: a quoted include of no room is refused", "[tidy]") {
  const Complaints expected{"lib/base/a.cc:1: includes a file of no room"};
  CHECK(IncludesOf("lib/base/a.cc", "#include \"b.h\"") == expected);
  CHECK(IncludesOf("lib/base/a.cc", "#include \"cellar/b.h\"") == expected);
  CHECK(IncludesOf("lib/base/a.cc", "#include \"apiserver/b.h\"") == expected);
}

TEST_CASE("tidy: examples and tests may include what they like", "[tidy]") {
  CHECK(IncludesOf("examples/a/a.cc", "#include \"apiserver/storage/rocks/engine.h\"").empty());
  CHECK(IncludesOf("tests/base/a_test.cc", "#include \"apiserver/endpoints/a.h\"").empty());
}

TEST_CASE("tidy: a third-party include in a public header is refused", "[tidy]") {
  const Complaints expected{
      "include/apiserver/base/a.h:2: a public header includes the standard library and apiserver/ "
      "only"};
  for (const char* line :
       {"#include <nghttp2/nghttp2.h>", "#include <zlib.h>", "#include <unistd.h>",
        "#include <fmt>", "#include \"base/status_macros.h\""}) {
    INFO(line);
    CHECK(HeaderWith(line) == expected);
  }
  CHECK(HeaderWith("#include <string>").empty());
  CHECK(HeaderWith("#include \"apiserver/base/status.h\"").empty());
}

TEST_CASE("tidy: only testing's headers for Catch2 may include it", "[tidy]") {
  const std::vector<std::string> lines{"#pragma once", "#include <catch2/catch.hpp>",
                                       "namespace apiserver::inline v0 {"};
  CHECK(PublicHeaders(One("include/apiserver/testing/storage/x_catch2.h", lines)).empty());
  CHECK(PublicHeaders(One("include/apiserver/testing/storage/x.h", lines)).size() == 1);
  CHECK(PublicHeaders(One("include/apiserver/storage/x_catch2.h", lines)).size() == 1);
}

TEST_CASE("tidy: a public header outside apiserver::inline v0 is refused", "[tidy]") {
  CHECK(HeaderWith("namespace apiserver::base {").size() == 1);
  CHECK(HeaderWith("namespace other {").size() == 1);
  CHECK(HeaderWith("namespace apiserver::inline v0::storage::kv {").empty());
  CHECK(PublicHeaders(One("include/apiserver/base/a.h", {"#pragma once", "struct A;"})) ==
        Complaints{"include/apiserver/base/a.h:1: a public header's namespace is missing"});
}

TEST_CASE("tidy: a source outside apiserver::v0 is refused", "[tidy]") {
  const auto source_with = [](std::string line) {
    return SourceNamespaces(One("lib/base/a.cc", {std::move(line)}));
  };
  CHECK(source_with("namespace apiserver::base {").size() == 1);
  CHECK(source_with("namespace apiserver::inline v0::base {").size() == 1);
  CHECK(source_with("namespace apiserver::v0::base {").empty());
  CHECK(source_with("namespace web::http {").empty());
}

TEST_CASE("tidy: a public header that leaks is refused", "[tidy]") {
  CHECK(HeaderWith("  using namespace std;").size() == 1);
  CHECK(HeaderWith("#define MAX 3").size() == 1);
  CHECK(HeaderWith("#define APISERVER_MAX 3").empty());
  CHECK(PublicHeaders(One("include/apiserver/base/a.h", {"namespace apiserver::inline v0 {"})) ==
        Complaints{"include/apiserver/base/a.h:1: a header says #pragma once"});
}

TEST_CASE("tidy: locks, threads, clocks, randomness and files outside base are refused", "[tidy]") {
  for (const char* line :
       {"std::mutex mutex_;", "std::thread t;", "std::condition_variable c;",
        "  const auto t = std::chrono::steady_clock::now();", "auto t = system_clock::now();",
        "std::random_device d;", "const char* home = std::getenv(\"HOME\");", "getenv(name);",
        "std::ifstream in(path);", "std::ofstream out;", "std::fstream both;",
        "std::this_thread::sleep_for(1s);", "thread_local int depth = 0;"}) {
    INFO(line);
    CHECK(NamesIn("lib/rest/a.cc", line).size() == 1);
    CHECK(NamesIn("include/apiserver/rest/a.h", line).size() == 1);
    CHECK(NamesIn("lib/base/a.cc", line).empty());
    CHECK(NamesIn("lib/storage/rocks/a.cc", line).empty());
    CHECK(NamesIn("tests/rest/a_test.cc", line).empty());
  }
}

TEST_CASE("tidy: a loop over what a temporary lock or pointer holds is refused", "[tidy]") {
  for (const char* line : {"  for (const auto& each : *list_.Lock()) Print(each);",
                           "  for (const auto& [key, value] : state_.Lock()->values) {",
                           "  for (const Check& check : *Snapshot()) Run(check);"}) {
    INFO(line);
    CHECK(Loops(One("lib/base/a.cc", {line})) ==
          Complaints{"lib/base/a.cc:1: the loop's range ends before the first turn: name it"});
    CHECK(Loops(One("tests/base/a_test.cc", {line})).size() == 1);
  }
  for (const char* line :
       {"  for (const auto& each : *list) Print(each);",
        "  for (auto& kv : *answer.mutable_kvs()) {",
        "  for (const auto& name : Names()) Print(name);", "  for (int i = 0; i < 3; ++i) {",
        "  // for (const auto& each : *list_.Lock())"}) {
    INFO(line);
    CHECK(Loops(One("lib/base/a.cc", {line})).empty());
  }
}

TEST_CASE("tidy: dynamic_cast is refused outside rest", "[tidy]") {
  CHECK(NamesIn("lib/endpoints/a.cc", "auto* g = dynamic_cast<Getter*>(&s);") ==
        Complaints{"lib/endpoints/a.cc:1: dynamic_cast: ask Capabilities::Of"});
  CHECK(NamesIn("lib/base/a.cc", "auto* g = dynamic_cast<Getter*>(&s);").size() == 1);
  CHECK(NamesIn("lib/rest/storage.cc", "auto* g = dynamic_cast<Getter*>(&s);").empty());
}

TEST_CASE("tidy: printing, exiting and handling signals are refused outside program", "[tidy]") {
  for (const char* line : {"std::cout << 1;", "std::cerr << 1;", "printf(\"x\");", "std::exit(1);",
                           "signal(SIGPIPE, SIG_IGN);"}) {
    INFO(line);
    CHECK(NamesIn("lib/base/a.cc", line).size() == 1);
    CHECK(NamesIn("lib/storage/rocks/a.cc", line).size() == 1);
    CHECK(NamesIn("lib/program/a.cc", line).empty());
    CHECK(NamesIn("lib/program/signals/a.cc", line).empty());
  }
}

TEST_CASE("tidy: a forbidden name is refused as code only, and whole", "[tidy]") {
  CHECK(NamesIn("lib/rest/a.cc", "// As std::mutex, but not held across calls.").empty());
  CHECK(NamesIn("lib/rest/a.cc", "Fail(\"std::mutex\");").empty());
  CHECK(NamesIn("lib/rest/a.cc", "clock.now();").empty());
  CHECK(NamesIn("lib/rest/a.cc", "loop.exit();").empty());
  CHECK(NamesIn("lib/rest/a.cc", "std::thread::id id; snprintf(b, n, f);").empty());
}

TEST_CASE("tidy: a suppression without reason or of our own symbols is refused", "[tidy]") {
  const auto count = [](std::vector<std::string> lines) {
    return Suppressions({"tsan.supp", std::move(lines)}).size();
  };
  CHECK(count({"# Not built with it.", "race:rocksdb::", "called_from_lib:librocksdb.so"}) == 0);
  CHECK(count({"race:rocksdb::"}) == 1);
  CHECK(count({"# About the file.", "", "race:rocksdb::"}) == 1);
  CHECK(count({"# Annoying.", "race:apiserver::v0::Loop"}) == 1);
  CHECK(count({"# Everything.", "race:*"}) == 1);
}

TEST_CASE("tidy: marks of unfinished work are refused", "[tidy]") {
  CHECK(Leftovers(One("lib/base/a.cc", {"// FIX"
                                        "ME"}))
            .size() == 1);
  CHECK(Leftovers(One("lib/base/a.cc", {"open(\"/ho"
                                        "me/me/x\")"}))
            .size() == 1);
  CHECK(Leftovers(One("lib/base/a.cc", {"// The path home/ is fine."})).empty());
}

}  // namespace tidy
