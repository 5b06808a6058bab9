// Documents of resources that a source of routes describes by itself.
#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/codec/json.h"
#include "apiserver/openapi/spec.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Contains;
using testing::StartWidgetServer;
using testing::TestServer;
using testing::TestServerOptions;

namespace {

// Counts how often its texts are made, with those of all others.
class Picture final : public openapi::Fragment {
 public:
  Picture(std::string name, std::atomic<int>& made) : name_(std::move(name)), made_(made) {}

  std::string_view hash() const override { return name_; }
  openapi::Info info() const override { return {"Pictures", "v0"}; }
  std::span<const std::string_view> References() const override {
    static constexpr std::string_view kNames[] = {"io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"};
    return kNames;
  }
  std::vector<runtime::KindPtr> Kinds() const override { return {}; }
  void AppendPaths(openapi::Format, std::string& json,
                   std::map<std::string, std::string>&) const override {
    json += "\"/" + name_ + R"(":{"get":{"operationId":"read)" + name_ + "\"}}";
  }
  void AppendDefinitions(openapi::Format, std::string& json) const override {
    ++made_;
    json += "\"" + name_ + R"(":{"type":"object"})";
  }

 private:
  const std::string name_;
  std::atomic<int>& made_;
};

// Has pictures of a group's versions, and no routes.
class Gallery final : public server::RouteSource {
 public:
  void Hang(const std::string& version, const std::string& name) {
    const auto state = state_.Lock();
    ++state->generation;
    state->hung[{"art.example.com", version}].push_back(
        std::make_shared<const Picture>(name, made));
  }

  std::shared_ptr<server::Route> Find(const request::RequestInfo&) const override {
    return nullptr;
  }
  std::uint64_t generation() const override { return state_.Lock()->generation; }
  std::vector<discovery::APIGroup> Groups() const override {
    ++listed;
    auto group = FindGroup("art.example.com");
    return group ? std::vector{*std::move(group)} : std::vector<discovery::APIGroup>();
  }
  std::optional<discovery::APIGroup> FindGroup(std::string_view name) const override {
    if (name != "art.example.com") return std::nullopt;
    discovery::APIGroup group{.name = "art.example.com", .versions = {}};
    const auto state = state_.Lock();
    for (const auto& [version, pictures] : state->hung) {
      group.versions.push_back({.version = version.version, .resources = {}});
    }
    return group.versions.empty() ? std::nullopt : std::optional(std::move(group));
  }
  std::vector<openapi::FragmentPtr> Fragments(std::string_view group,
                                              std::string_view version) const override {
    const auto state = state_.Lock();
    const auto found = state->hung.find({std::string(group), std::string(version)});
    return found == state->hung.end() ? std::vector<openapi::FragmentPtr>() : found->second;
  }
  std::map<runtime::GroupVersion, std::vector<openapi::FragmentPtr>> AllFragments() const override {
    return state_.Lock()->hung;
  }

  mutable std::atomic<int> made = 0;
  mutable std::atomic<int> listed = 0;

 private:
  struct State {
    std::uint64_t generation = 0;
    std::map<runtime::GroupVersion, std::vector<openapi::FragmentPtr>> hung;
  };
  Guarded<State> state_;
};

std::unique_ptr<TestServer> ServerWith(const std::shared_ptr<Gallery>& gallery) {
  TestServerOptions options;
  options.install = [&gallery](server::GenericAPIServer& api) -> Status {
    return api.AddHandler({.name = "gallery", .routes = gallery}).status();
  };
  return StartWidgetServer(std::move(options));
}

// Returns what the index of v3 says of a path: its URL.
std::string UrlOf(TestServer& server, const std::string& path) {
  const std::string text = server.Call("GET", "/openapi/v3").body;
  runtime::Arena arena;
  return std::string(
      codec::ParseJson(text, arena).value()["paths"][path]["serverRelativeURL"].AsString());
}

constexpr const char* kV1 = "apis/art.example.com/v1";

}  // namespace

TEST_CASE("server: a version of fragments has a document of v3 under their hash", "[server]") {
  const auto gallery = std::make_shared<Gallery>();
  const auto server = ServerWith(gallery);
  CHECK(UrlOf(*server, kV1).empty());

  gallery->Hang("v1", "Night");
  const std::string url = UrlOf(*server, kV1);
  CHECK(gallery->made == 0);
  const auto answer = server->Call("GET", url);
  const std::string etag(answer.headers.Get("Etag"));
  const auto again = server->Call("GET", url, "", {{"If-None-Match", etag}});
  const auto stale = server->Call("GET", "/openapi/v3/apis/art.example.com/v1?hash=OLD");

  REQUIRE(answer.code == 200);
  CHECK(openapi::Lint(answer.body).empty());
  CHECK(Contains(answer.body, R"("title":"Pictures")"));
  CHECK(Contains(answer.body, "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"));
  CHECK(url.ends_with("?hash=" + etag.substr(1, etag.size() - 2)));
  CHECK(answer.headers.Get("Cache-Control") == "public, immutable");
  CHECK(again.code == 304);
  CHECK(stale.code == 301);
  CHECK(stale.headers.Get("Location") == url);
  CHECK(gallery->made == 1);

  gallery->Hang("v1", "Milkmaid");
  CHECK(UrlOf(*server, kV1) != url);
  CHECK(Contains(server->Call("GET", UrlOf(*server, kV1)).body, "Milkmaid"));
}

TEST_CASE("server: v2 has fragments, in JSON and in protobuf", "[server]") {
  const auto gallery = std::make_shared<Gallery>();
  const auto server = ServerWith(gallery);
  const auto before = server->Call("GET", "/openapi/v2");
  gallery->Hang("v1", "Night");

  const auto json = server->Call("GET", "/openapi/v2");
  const std::string etag(json.headers.Get("Etag"));
  const auto again = server->Call("GET", "/openapi/v2", "", {{"If-None-Match", etag}});
  const auto protobuf =
      server->Call("GET", "/openapi/v2", "",
                   {{"Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}});

  CHECK_FALSE(Contains(before.body, "readNight"));
  CHECK(before.headers.Get("Etag") != etag);
  CHECK(json.code == 200);
  CHECK(openapi::Lint(json.body).empty());
  CHECK(Contains(json.body, "readNight"));
  CHECK(Contains(json.body, "com.example.v1.Widget"));
  CHECK(again.code == 304);
  CHECK(protobuf.headers.Get("Content-Type") ==
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  CHECK(Contains(protobuf.body, "readNight"));
  // Swagger's discovery paths are those of installed groups alone, as upstream's.
  CHECK_FALSE(Contains(json.body, "/apis/art.example.com/"));
}

TEST_CASE("server: the thousandth fragment costs what the tenth did", "[server]") {
  const auto gallery = std::make_shared<Gallery>();
  const auto server = ServerWith(gallery);
  // Returns how many texts of fragments are made after one has come, when clients ask for the index
  // of v3, the group and one other version.
  int next = 0;
  const auto cost_of_one = [&] {
    gallery->made = gallery->listed = 0;
    ++next;
    gallery->Hang("v" + std::to_string(next), "P" + std::to_string(next));
    UrlOf(*server, kV1);
    server->Call("GET", "/apis/art.example.com");
    server->Call("GET", "/apis/art.example.com/v1");
    server->Call("GET", "/openapi/v3/apis/art.example.com/v" + std::to_string(next));
    server->Call("GET", "/openapi/v3/apis/art.example.com/v" + std::to_string(next));
    return std::pair(gallery->made.load(), gallery->listed.load());
  };
  while (next < 9) cost_of_one();
  const auto tenth = cost_of_one();
  while (next < 999) {
    ++next;
    gallery->Hang("v" + std::to_string(next), "P" + std::to_string(next));
  }
  const auto thousandth = cost_of_one();

  CHECK(next == 1000);
  CHECK(tenth.first == 1);
  CHECK(thousandth == tenth);
  // The group was found without listing all groups.
  CHECK(thousandth.second <= 1);
}

TEST_CASE("server: only documents that were asked for last are kept", "[server]") {
  const auto gallery = std::make_shared<Gallery>();
  const auto server = ServerWith(gallery);
  constexpr int kVersions = 40;
  for (int i = 0; i < kVersions; ++i) gallery->Hang("v" + std::to_string(i), "P");
  const auto get = [&server](int i) {
    return server->Call("GET", "/openapi/v3/apis/art.example.com/v" + std::to_string(i)).code;
  };
  for (int i = 0; i < kVersions; ++i) CHECK(get(i) == 200);
  CHECK(gallery->made == kVersions);

  get(kVersions - 1);
  CHECK(gallery->made == kVersions);
  get(0);
  CHECK(gallery->made == kVersions + 1);
}
