#include "aggregator/control/remote_openapi.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "aggregator/front.h"
#include "aggregator/target.h"

namespace aggregator_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.

constexpr char kIndexPath[] = "/openapi/v3";
constexpr char kOwnPath[] = "/openapi/v3/apis/group.example.com/v1";
constexpr char kOwnUrl[] = "/openapi/v3/apis/group.example.com/v1?hash=6E8F849B";
constexpr char kOwnSpec[] =
    R"({"openapi":"3.0.0","info":{"title":"Kubernetes","version":"unversioned"}})";

// An extension server of ns/api with the documents of OpenAPI that its fields say.
struct OpenApiTarget {
  // The answer to a GET of a path.
  struct Document {
    std::string body;
    std::string etag = {};
  };

  http::Step Answer(http::Exchange& exchange) {
    const http::Request& request = exchange.request();
    const auto state = documents.Lock();
    const auto found = state->find(request.path);
    if (found == state->end()) {
      exchange.writer().Send({.code = request.path.starts_with("/openapi/") ? 404 : 200}, "");
      return http::Step::Done();
    }
    ++asked;
    const Document& document = found->second;
    http::ResponseHead head{.code = 200, .headers = {{"Content-Type", "application/json"}}};
    if (!document.etag.empty()) head.headers.Set("ETag", document.etag);
    if (!document.etag.empty() && request.headers.Get("If-None-Match") == document.etag) {
      head.code = 304;
      exchange.writer().Send(std::move(head), "");
      return http::Step::Done();
    }
    ++sent;
    exchange.writer().Send(std::move(head), http::Bytes(std::string(document.body)));
    return http::Step::Done();
  }
  void Set(const std::string& path, Document document) {
    (*documents.Lock())[path] = std::move(document);
  }

  Guarded<std::map<std::string, Document>> documents;
  std::atomic<int> asked = 0;
  std::atomic<int> sent = 0;
  std::unique_ptr<Target> target = std::make_unique<Target>(
      ServicePair("api.ns.svc"), [this](http::Exchange& exchange) { return Answer(exchange); });
};

std::string IndexOf(const std::string& path, const std::string& url) {
  return R"({"paths":{")" + path + R"(":{"serverRelativeURL":")" + url + R"("}}})";
}

bool Lists(const Front& front, const std::string& text) {
  return front.Get(kIndexPath).body.find(text) != std::string::npos;
}

constexpr auto kSoon = std::chrono::milliseconds(50);

// TestV3APIService and TestV3RootAPIService of openapiv3/aggregator/aggregator_test.go.
TEST_CASE("aggregator: OpenAPI v3 of an extension server is listed, and answered by it") {
  OpenApiTarget extension;
  extension.Set(kIndexPath, {IndexOf("apis/group.example.com/v1", kOwnUrl), "\"one\""});
  extension.Set(kOwnPath, {kOwnSpec, "\"6E8F849B\""});
  const Front front(kSoon, kSoon);
  front.Serve(extension.target->host());
  CHECK(Lists(front, R"("apis/apiregistration.k8s.io/v1":{)"));
  REQUIRE(front.AddRemote("group.example.com", "v1") == 201);
  REQUIRE(Eventually([&] {
    return Lists(front, R"("apis/group.example.com/v1":{"serverRelativeURL":")" +
                            std::string(kOwnUrl) + "\"}");
  }));
  CHECK(Lists(front, R"("apis/apiregistration.k8s.io/v1":{)"));

  const auto document = front.Get(kOwnUrl);
  CHECK(document.body == kOwnSpec);
  CHECK(document.headers.Get("ETag") == "\"6E8F849B\"");
  CHECK(front.Get(kOwnUrl, {{"If-None-Match", "\"6E8F849B\""}}).code == 304);

  // It is gone with its APIService.
  CHECK(front.server->Call("DELETE", std::string(kAPIServices) + "/v1.group.example.com").code ==
        200);
  CHECK(Eventually([&] { return !Lists(front, "group.example.com"); }));
  CHECK(front.Get(kOwnPath).body.empty());
}

TEST_CASE(
    "aggregator: the index of OpenAPI is asked for by its ETag, and kept while nobody answers") {
  OpenApiTarget extension;
  extension.Set(kIndexPath, {IndexOf("apis/group.example.com/v1", kOwnUrl), "\"one\""});
  const Front front(kSoon, kSoon);
  front.Serve(extension.target->host());
  REQUIRE(front.AddRemote("group.example.com", "v1") == 201);
  REQUIRE(Eventually([&] { return Lists(front, kOwnUrl); }));
  const int asked = extension.asked;
  REQUIRE(Eventually([&] { return extension.asked > asked + 2; }));
  CHECK(extension.sent == 1);

  const std::string changed = std::string(kOwnPath) + "?hash=2";
  extension.Set(kIndexPath, {IndexOf("apis/group.example.com/v1", changed), "\"two\""});
  CHECK(Eventually([&] { return Lists(front, changed); }));
  // Garbage changes nothing, and neither does a server that is gone.
  extension.Set(kIndexPath, {"<html>", "\"three\""});
  const int garbage = extension.asked;
  REQUIRE(Eventually([&] { return extension.asked > garbage + 2; }));
  CHECK(Lists(front, changed));
  extension.target = nullptr;
  REQUIRE(front.Becomes("v1.group.example.com", "False/FailedDiscoveryCheck"));
  CHECK(Lists(front, changed));
  CHECK(Eventually([&] { return front.Get(kOwnPath).code == 503; }));
}

TEST_CASE("aggregator: an extension server without OpenAPI v3 is not listed") {
  OpenApiTarget extension;
  extension.Set(kIndexPath, {IndexOf("apis/group.example.com/v1", kOwnUrl)});
  const Front front(kSoon, kSoon);
  front.Serve(extension.target->host());
  REQUIRE(front.AddRemote("group.example.com", "v1") == 201);
  REQUIRE(Eventually([&] { return Lists(front, kOwnUrl); }));
  extension.documents.Lock()->clear();
  CHECK(Eventually([&] { return !Lists(front, kOwnUrl); }));
}

// TestV2APIService of openapiv3/aggregator/aggregator_test.go.
TEST_CASE("aggregator: OpenAPI v3 of an extension server that has v2 alone is made of that") {
  OpenApiTarget extension;
  extension.Set(
      "/openapi/v2",
      {R"({"swagger":"2.0","info":{"title":"Kubernetes","version":"unversioned"}})", "\"one\""});
  const Front front(kSoon, kSoon);
  front.Serve(extension.target->host());
  REQUIRE(front.AddRemote("group.example.com", "v1") == 201);
  REQUIRE(Eventually([&] {
    return Lists(front, R"("apis/group.example.com/v1":{"serverRelativeURL":")" +
                            std::string(kOwnPath) + "?hash=");
  }));
  CHECK(front.Get(kOwnPath).body ==
        R"({"openapi":"3.0.0","info":{"title":"Kubernetes","version":"unversioned"},)"
        R"("components":{}})");
  // It gets v3 of its own, and loses it.
  extension.Set(kIndexPath, {IndexOf("apis/group.example.com/v1", kOwnUrl)});
  extension.Set(kOwnPath, {kOwnSpec});
  CHECK(Eventually([&] { return front.Get(kOwnPath).body == kOwnSpec; }));
  extension.documents.Lock()->erase(kIndexPath);
  CHECK(Eventually(
      [&] { return front.Get(kOwnPath).body.find(R"("components":{})") != std::string::npos; }));
  CHECK(front.server->Call("DELETE", std::string(kAPIServices) + "/v1.group.example.com").code ==
        200);
  CHECK(Eventually([&] { return !Lists(front, "group.example.com"); }));
}

TEST_CASE("aggregator: the document of a group is that of its first extension server") {
  OpenApiTarget extension;
  extension.Set(kIndexPath,
                {R"({"paths":{"apis/two.com":{"serverRelativeURL":"/openapi/v3/apis/)"
                 R"(two.com?hash=1"},"apis/two.com/v1":{},"apis/two.com/v2":{},)"
                 R"("version":{"serverRelativeURL":"/openapi/v3/version?hash=theirs"}}})"});
  const Front front(kSoon, kSoon);
  front.Serve(extension.target->host());
  REQUIRE(front.AddRemote("two.com", "v1") == 201);
  REQUIRE(front.AddRemote("two.com", "v2") == 201);
  REQUIRE(Eventually([&] {
    return Lists(front, R"("apis/two.com":{"serverRelativeURL":"/openapi/v3/apis/two.com?hash=1"},)"
                        R"("apis/two.com/v1":{"serverRelativeURL":"/openapi/v3/apis/two.com/v1"},)"
                        R"("apis/two.com/v2":{"serverRelativeURL":"/openapi/v3/apis/two.com/v2"})");
  }));
  // "version" is this server's own.
  CHECK_FALSE(Lists(front, "hash=theirs"));
  // A version that is served here takes the group's document back.
  REQUIRE(front.Add("two.com", "v3", "") == 201);
  CHECK(Eventually([&] { return !Lists(front, R"("apis/two.com":{)"); }));
}

// TestDownloadOpenAPISpec of openapiv3/aggregator/downloader_test.go, and what is no index.
TEST_CASE("aggregator: an index of OpenAPI v3 is read for one APIService, with its own URLs") {
  const aggregator::Facts facts{.name = "version.group", .group = "group", .version = "version"};
  const auto read = [&facts](const std::string& json) {
    const auto urls = aggregator::ReadV3Index(json, facts);
    if (!urls.ok()) return std::string("refused");
    std::string text;
    for (const auto& [path, url] : *urls) text += path + "=" + url + " ";
    return text;
  };
  const std::string own = "apis/group/version";
  const std::string plain = own + "=/openapi/v3/" + own + " ";
  CHECK(read(IndexOf(own, "/openapi/v3/apis/group/version?hash=")) ==
        own + "=/openapi/v3/apis/group/version?hash= ");
  for (const std::string url :
       {"https://evil.example/", "/openapi/v3/apis/group/version2", "", "/api/v1/secrets",
        "/openapi/v3/apis/group/version/../../secrets"}) {
    CAPTURE(url);
    CHECK(read(IndexOf(own, url)) == plain);
  }
  CHECK(read(IndexOf(own, "/openapi/v3/" + own + "?hash=" + std::string(2000, 'A'))) == plain);
  CHECK(read(R"({"paths":{"apis/group/version":{"serverRelativeURL":5}}})") == plain);
  CHECK(read(R"({"paths":{"apis/group/version":5,"apis/other/version":{}}})").empty());
  for (const char* const json : {"", "[]", "{}", R"({"paths":[]})", R"({"paths":{)", "<html>"}) {
    CAPTURE(json);
    CHECK(read(json) == "refused");
  }
}

constexpr char kV2Path[] = "/openapi/v2";

std::string SwaggerOf(const std::string& paths, const std::string& definitions = "") {
  return R"({"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{)" + paths +
         R"(},"definitions":{)" + definitions + "}}";
}

// Returns what a document of v2 has at a place: "paths", then "/apis/…".
std::string Merged(const Front& front, const std::string& part, const std::string& name) {
  runtime::Arena arena;
  const auto answer = front.Get(kV2Path);
  const auto root = codec::ParseJson(arena.Copy(answer.body), arena);
  if (!root.ok()) return "no JSON";
  const runtime::Value found = (*root)[part][name];
  std::string json;
  if (!found.is_null()) codec::AppendJson(found, json);
  return json;
}

constexpr char kGroupPath[] = "/apis/group.example.com/v1/";

// TestBasicPathsMerged, TestAddUpdateAPIService, TestAddRemoveAPIService, TestUpdateAPIService,
// TestFailingAPIServiceSkippedAggregation and TestAPIServiceFailSuccessTransition of
// openapi/aggregator/aggregator_test.go.
TEST_CASE("aggregator: OpenAPI v2 of an extension server is merged while it is there") {
  OpenApiTarget extension;
  const Front front(kSoon, kSoon);
  front.Serve(extension.target->host());
  const auto own_path = [&] {
    return !Merged(front, "paths", "/apis/apiregistration.k8s.io/v1/").empty();
  };
  CHECK(own_path());
  REQUIRE(front.AddRemote("group.example.com", "v1") == 201);
  REQUIRE(front.Becomes("v1.group.example.com", "True/Passed"));
  // It has none yet.
  CHECK(Merged(front, "paths", kGroupPath).empty());
  CHECK(own_path());

  extension.Set(kV2Path, {SwaggerOf(R"("/apis/group.example.com/v1/":{},"/apis/else.com/v1/":{})"),
                          "\"one\""});
  CHECK(Eventually([&] { return Merged(front, "paths", kGroupPath) == "{}"; }));
  // Nothing is shown that it is not asked for.
  CHECK(Merged(front, "paths", "/apis/else.com/v1/").empty());
  CHECK(own_path());

  // Garbage, and no answer at all, change nothing.
  extension.Set(kV2Path, {"[]", "\"two\""});
  const int asked = extension.asked;
  REQUIRE(Eventually([&] { return extension.asked > asked + 2; }));
  CHECK(Merged(front, "paths", kGroupPath) == "{}");

  extension.Set(kV2Path, {SwaggerOf(""), "\"three\""});
  CHECK(Eventually([&] { return Merged(front, "paths", kGroupPath).empty(); }));
  extension.Set(kV2Path, {SwaggerOf(R"("/apis/group.example.com/v1/":{"get":{}})"), "\"four\""});
  CHECK(Eventually([&] { return Merged(front, "paths", kGroupPath) == R"({"get":{}})"; }));
  CHECK(front.server->Call("DELETE", std::string(kAPIServices) + "/v1.group.example.com").code ==
        200);
  CHECK(Eventually([&] { return Merged(front, "paths", kGroupPath).empty(); }));
  CHECK(own_path());
}

// As in MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters, across HTTP.
TEST_CASE("aggregator: definitions of extension servers are shared or get new names") {
  constexpr char kStatus[] = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
  OpenApiTarget extension;
  const Front front(kSoon, kSoon);
  const std::string own = Merged(front, "definitions", kStatus);
  REQUIRE_FALSE(own.empty());
  const std::string paths = R"("/apis/group.example.com/v1/":{"get":{"responses":{"200":{"schema":)"
                            R"({"$ref":"#/definitions/)" +
                            std::string(kStatus) + R"("}}}}})";
  extension.Set(kV2Path,
                {SwaggerOf(paths, "\"" + std::string(kStatus) + R"(":{"type":"object"})")});
  front.Serve(extension.target->host());
  REQUIRE(front.AddRemote("group.example.com", "v1") == 201);
  const std::string renamed = std::string(kStatus) + "_v2";
  CHECK(
      Eventually([&] { return Merged(front, "definitions", renamed) == R"({"type":"object"})"; }));
  CHECK(Merged(front, "paths", kGroupPath).find("\"#/definitions/" + renamed + "\"") !=
        std::string::npos);
  CHECK(Merged(front, "definitions", kStatus) == own);
  const auto protobuf = front.Get(
      kV2Path, {{"Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}});
  CHECK(protobuf.body.find(renamed) != std::string::npos);

  // The kinds of what belongs to each group grow with the groups.
  CHECK(Merged(front, "definitions", "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions")
            .find(R"({"group":"group.example.com","kind":"DeleteOptions","version":"v1"})") !=
        std::string::npos);

  // The same definition is not there twice.
  extension.Set(kV2Path, {SwaggerOf(paths, "\"" + std::string(kStatus) + "\":" + own)});
  CHECK(Eventually([&] { return Merged(front, "definitions", renamed).empty(); }));
  CHECK(Merged(front, "paths", kGroupPath).find("\"#/definitions/" + std::string(kStatus) + "\"") !=
        std::string::npos);
}

// TestFailingAPIServiceDoesNotBlockAdd: a server that takes its time holds up nobody.
TEST_CASE("aggregator: an extension server that does not tell its OpenAPI holds up nobody") {
  OpenApiTarget slow;
  OpenApiTarget quick;
  Guarded<std::vector<http::Resume>> held;
  slow.target = std::make_unique<Target>(
      ServicePair("slow.ns.svc"), [&held](http::Exchange& exchange) -> http::Step {
        if (exchange.request().path.starts_with("/openapi/")) {
          return http::Step::Later(
              [&held](http::Resume resume) { held.Lock()->push_back(std::move(resume)); });
        }
        exchange.writer().Send({.code = 200}, "");
        return http::Step::Done();
      });
  quick.Set(kV2Path, {SwaggerOf(R"("/apis/group.example.com/v1/":{})")});
  const Front front(kSoon, kSoon);
  front.Serve(quick.target->host());
  front.services->Set({.namespace_ = "ns", .name = "slow", .ports = {{"https", 443}}});
  const std::string host = slow.target->host();
  front.services->SetEndpointSlices(
      "ns", "slow",
      {{.endpoints = {{{"127.0.0.1"}}},
        .ports = {{"https", std::stoi(host.substr(host.find(':') + 1))}}}});
  REQUIRE(
      front.Add("slow.com", "v1",
                R"("service":{"namespace":"ns","name":"slow"},"insecureSkipTLSVerify":true,)") ==
      201);
  REQUIRE(Eventually([&] { return !held.Lock()->empty(); }));
  REQUIRE(front.AddRemote("group.example.com", "v1") == 201);
  CHECK(Eventually([&] { return Merged(front, "paths", kGroupPath) == "{}"; }));
  CHECK(front.Get(kIndexPath).code == 200);
}

// TestAPIServiceSort of priority_test.go. Local ones are no part of this list.
TEST_CASE("aggregator: OpenAPI v2 is merged in the order of the groups' priorities") {
  const std::vector<aggregator::Facts> all{
      {.name = "FirstService", .group = "Group1", .version = "v1", .group_priority = 10},
      {.name = "SecondService", .group = "Group2", .version = "v1", .group_priority = 15},
      {.name = "FirstServiceInternal", .group = "Group1", .version = "v1", .group_priority = 16},
      {.name = "ThirdService", .group = "Group3", .version = "v1", .group_priority = 15},
  };
  std::vector<const aggregator::Facts*> given;
  for (const aggregator::Facts& each : all) given.push_back(&each);
  std::string names;
  for (const auto* const each : aggregator::SortedByGroupPriority(given)) names += each->name + " ";
  CHECK(names == "FirstService FirstServiceInternal SecondService ThirdService ");
}

}  // namespace
}  // namespace aggregator_test
