#include "text/go_path.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace apiserver::inline v0::text {
namespace {

// Tables of Go's src/path/path_test.go.

TEST_CASE("text: a path is cleaned as Go's path.Clean does it", "[text]") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "."},
      {"abc", "abc"},
      {"abc/def", "abc/def"},
      {"a/b/c", "a/b/c"},
      {".", "."},
      {"..", ".."},
      {"../..", "../.."},
      {"../../abc", "../../abc"},
      {"/abc", "/abc"},
      {"/", "/"},
      {"abc/", "abc"},
      {"abc/def/", "abc/def"},
      {"./", "."},
      {"../", ".."},
      {"../../", "../.."},
      {"/abc/", "/abc"},
      {"abc//def//ghi", "abc/def/ghi"},
      {"//abc", "/abc"},
      {"///abc", "/abc"},
      {"//abc//", "/abc"},
      {"abc//", "abc"},
      {"abc/./def", "abc/def"},
      {"/./abc/def", "/abc/def"},
      {"abc/.", "abc"},
      {"abc/def/ghi/../jkl", "abc/def/jkl"},
      {"abc/def/../ghi/../jkl", "abc/jkl"},
      {"abc/def/..", "abc"},
      {"abc/def/../..", "."},
      {"/abc/def/../..", "/"},
      {"abc/def/../../..", ".."},
      {"/abc/def/../../..", "/"},
      {"abc/def/../../../ghi/jkl/../../../mno", "../../mno"},
      {"abc/./../def", "def"},
      {"abc//./../def", "def"},
      {"abc/../../././../def", "../../def"},
  };
  for (const auto& [path, clean] : cases) {
    CAPTURE(path);
    CHECK(CleanPath(path) == clean);
  }
}

TEST_CASE("text: paths are joined as Go's path.Join does it", "[text]") {
  CHECK(JoinPath("", "").empty());
  CHECK(JoinPath("a", "b") == "a/b");
  CHECK(JoinPath("a", "") == "a");
  CHECK(JoinPath("", "b") == "b");
  CHECK(JoinPath("/", "a") == "/a");
  CHECK(JoinPath("/", "") == "/");
  CHECK(JoinPath("a/", "b") == "a/b");
  CHECK(JoinPath("a/", "") == "a");
  CHECK(JoinPath("/a/b/", "/../c/") == "/a/c");
}

}  // namespace
}  // namespace apiserver::inline v0::text
