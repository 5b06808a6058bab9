#include "aggregator/control/remote_discovery.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <string>

#include "aggregator/front.h"
#include "aggregator/target.h"

namespace aggregator_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.

constexpr char kV2[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

constexpr char kDocument[] = R"({"kind":"APIGroupDiscoveryList",
"apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"name":"example.com"},
"versions":[{"version":"v1","resources":[{"resource":"widgets","responseKind":
{"group":"example.com","version":"v1","kind":"Widget"},"scope":"Namespaced",
"singularResource":"widget","verbs":["get","list"],"shortNames":["wi"],"categories":["all"],
"subresources":[{"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1",
"kind":"Scale"},"verbs":["get"]},{"subresource":"log","responseKind":null,"verbs":["get"]}]}],
"freshness":"Current"}]}]})";

constexpr char kShown[] =
    R"("versions":[{"version":"v1","resources":[{"resource":"widgets","responseKind":)"
    R"({"group":"example.com","version":"v1","kind":"Widget"},"scope":"Namespaced",)"
    R"("singularResource":"widget","verbs":["get","list"],"shortNames":["wi"],)"
    R"("categories":["all"],"subresources":[{"subresource":"scale","responseKind":)"
    R"({"group":"autoscaling","version":"v1","kind":"Scale"},"verbs":["get"]},)"
    R"({"subresource":"log","responseKind":{"group":"example.com","version":"v1","kind":""},)"
    R"("verbs":["get"]}]}],"freshness":)";

// An extension server of ns/api that tells its resources in the aggregated form while `up`.
std::unique_ptr<Target> DiscoveryTarget(std::atomic<bool>& up, std::atomic<int>& documents) {
  return std::make_unique<Target>(
      ServicePair("api.ns.svc"), [&up, &documents](http::Exchange& exchange) -> http::Step {
        const http::Request& request = exchange.request();
        if (!up) {
          exchange.writer().Send({.code = 503}, "");
        } else if (request.path != "/apis") {
          exchange.writer().Send({.code = 200}, "");
        } else if (request.headers.Get("If-None-Match") == "\"one\"") {
          exchange.writer().Send({.code = 304}, "");
        } else {
          ++documents;
          exchange.writer().Send(
              {.code = 200, .headers = {{"Content-Type", kV2}, {"ETag", "\"one\""}}}, kDocument);
        }
        return http::Step::Done();
      });
}

bool Shows(const Front& front, const std::string& text) {
  return front.Get("/apis", {{"Accept", kV2}}).body.find(text) != std::string::npos;
}

TEST_CASE("aggregator: discovery shows the resources of an extension server, stale if it is down") {
  std::atomic<bool> up = true;
  std::atomic<int> documents = 0;
  const auto target = DiscoveryTarget(up, documents);
  const Front front(std::chrono::milliseconds(50), std::chrono::milliseconds(50));
  front.Serve(target->host());
  REQUIRE(front.AddRemote("example.com", "v1") == 201);
  CHECK(Eventually([&] { return Shows(front, std::string(kShown) + R"("Current"}])"); }));
  up = false;
  CHECK(Eventually([&] { return Shows(front, std::string(kShown) + R"("Stale"}])"); }));
  up = true;
  CHECK(Eventually([&] { return Shows(front, std::string(kShown) + R"("Current"}])"); }));
  // Everything else was "304 Not Modified".
  CHECK(documents == 1);
}

TEST_CASE("aggregator: an extension server without aggregated discovery is asked for its list") {
  const Target target(ServicePair("api.ns.svc"), [](http::Exchange& exchange) {
    const bool list = exchange.request().path == "/apis/example.com/v1";
    exchange.writer().Send(
        {.code = list ? 200 : 406, .headers = {{"Content-Type", "application/json"}}},
        list ? R"({"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[
{"name":"widgets/status","singularName":"","namespaced":true,"kind":"Widget","verbs":["get"]},
{"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget","verbs":["list"]}]})"
             : "");
    return http::Step::Done();
  });
  const Front front;
  front.Serve(const_cast<Target&>(target).host());
  REQUIRE(front.AddRemote("example.com", "v1") == 201);
  CHECK(Eventually([&] {
    return Shows(
        front,
        R"("versions":[{"version":"v1","resources":[{"resource":"widgets","responseKind":)"
        R"({"group":"example.com","version":"v1","kind":"Widget"},"scope":"Namespaced",)"
        R"("singularResource":"widget","verbs":["list"],"subresources":[{"subresource":"status",)"
        R"("responseKind":{"group":"example.com","version":"v1","kind":"Widget"},)"
        R"("verbs":["get"]}]}],"freshness":"Current"}])");
  }));
}

TEST_CASE("aggregator: a document that is none is refused") {
  for (const char* const json : {"", "[]", "{}", R"({"kind":"APIGroupDiscoveryList")",
                                 R"({"kind":"Status"})", R"({"kind":5,"items":{}})"}) {
    CAPTURE(json);
    CHECK_FALSE(aggregator::ReadAggregated(json).ok());
    CHECK_FALSE(aggregator::ReadResourceList(json, "v1").ok());
  }
  // Members of a wrong type are read as empty.
  const auto odd = aggregator::ReadAggregated(
      R"({"kind":"APIGroupDiscoveryList","items":[{"versions":[{"version":"v1","resources":[1,
{"resource":{}},null]},5]},null,"x"]})");
  REQUIRE(odd.ok());
  CHECK(odd->at({"", "v1"}).resources.size() == 3);
}

TEST_CASE("aggregator: the type of an aggregated document is known by its parameters") {
  CHECK(aggregator::IsAggregated(kV2));
  CHECK(aggregator::IsAggregated(
      "application/json; as=APIGroupDiscoveryList; g=apidiscovery.k8s.io; v=v2beta1"));
  CHECK_FALSE(aggregator::IsAggregated("application/json"));
  CHECK_FALSE(aggregator::IsAggregated(""));
  CHECK_FALSE(aggregator::IsAggregated(
      "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList"));
}

}  // namespace
}  // namespace aggregator_test
