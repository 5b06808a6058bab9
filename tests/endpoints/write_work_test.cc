// How often a write of each verb makes something as large as its object: a parse makes the array of
// the members, normalizing and copying another, encoding makes the text, the owners of fields make
// sets of them. What is made once more than before shows here.
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "media_types.h"
#include "widget_server.h"

using apiserver::http::Headers;
using apiserver::testing::kApply;
using apiserver::testing::kJson;
using apiserver::testing::kJsonPatch;
using apiserver::testing::kMerge;
using apiserver::testing::kWidgetA;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::TestServer;

namespace {

// Smaller than anything made of an object with so many annotations.
constexpr std::size_t kLargeBytes = 48 << 10;
constexpr int kAnnotations = 4000;

std::atomic<int> large_allocations{0};

// Loops, and the client, read and write as much as comes at once, which differs from run to run.
bool OnPool() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return std::string_view(name.data()).starts_with("pool");
}

void* Allocate(std::size_t bytes) {
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  if (bytes >= kLargeBytes && OnPool()) ++large_allocations;
  return memory;
}

std::string Body(std::string_view metadata, std::string_view first) {
  std::string body =
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","annotations":{)";
  for (int i = 0; i < kAnnotations; ++i) {
    const std::string key = std::to_string(10'000 + i);
    body.append(i == 0 ? "\"k" : ",\"k").append(key).append("\":\"");
    body.append(i == 0 ? first : "0123456789abcdef0123").append("\"");
  }
  return body.append("}").append(metadata).append(R"(},"spec":{"size":1}})");
}

struct Row {
  const char* name;
  const char* method;
  std::string query;
  Headers headers;
  int most;  // Large allocations.
};

std::string BodyOf(const Row& row, const std::string& value, const std::string& version) {
  const std::string_view name = row.name;
  if (name == "update") return Body(R"(,"resourceVersion":")" + version + "\"", value);
  if (name == "merge patch") return R"({"metadata":{"annotations":{"k10000":")" + value + "\"}}}";
  if (name == "JSON patch") {
    return R"([{"op":"replace","path":"/metadata/annotations/k10000","value":")" + value + "\"}]";
  }
  return Body("", value);
}

std::string VersionIn(const std::string& body) {
  constexpr std::string_view kKey = "\"resourceVersion\":\"";
  const std::size_t begin = body.find(kKey) + kKey.size();
  return body.substr(begin, body.find('"', begin) - begin);
}

// Writes some times; returns the fewest large allocations: other work of the pool may fall together
// with a write.
int LargeAllocationsOf(TestServer& server, const Row& row) {
  const bool create = std::string_view(row.method) == "POST";
  int fewest = std::numeric_limits<int>::max();
  for (int i = 0; i < 5; ++i) {
    const auto now = server.Call("GET", kWidgetA);
    const std::string version = now.code == 200 ? VersionIn(now.body) : "";
    if (create && now.code == 200) REQUIRE(server.Call("DELETE", kWidgetA).code == 200);
    const std::string body = BodyOf(row, row.name + std::to_string(i), version);
    const std::string path = create ? std::string(kWidgets) : kWidgetA + row.query;
    large_allocations = 0;
    const auto answer = server.Call(row.method, path, body, row.headers);
    fewest = std::min(fewest, large_allocations.load());
    INFO(answer.body.substr(0, 500));
    REQUIRE((answer.code == 200 || answer.code == 201));
  }
  return fewest;
}

}  // namespace

void* operator new(std::size_t bytes) { return Allocate(bytes); }
void* operator new[](std::size_t bytes) { return Allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }

TEST_CASE("endpoints: a write makes nothing of its object twice that it has already",
          "[endpoints]") {
  const auto server = StartWidgetServer();
  // Keeps nothing of what updates have written: they parse it.
  const auto forgetful = StartWidgetServer({.memory = {.encodings_bytes_max = 1}});
  const std::vector<Row> rows{{"create", "POST", "", {{"Content-Type", kJson}}, 14},
                              {"update", "PUT", "", {{"Content-Type", kJson}}, 12},
                              {"merge patch", "PATCH", "", kMerge, 11},
                              {"JSON patch", "PATCH", "", kJsonPatch, 14},
                              {"apply", "PATCH", "?fieldManager=m&force=1", kApply, 21}};
  for (const Row& row : rows) {
    INFO(row.name);
    const int made = LargeAllocationsOf(*server, row);
    const int with_parsing = LargeAllocationsOf(*forgetful, row);
    CHECK(made <= row.most);
    if (row.name != std::string_view("create")) CHECK(with_parsing >= made + 3);
  }
}
