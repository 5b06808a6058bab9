#include "apiserver/aggregator/aggregator.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/control/availability.h"
#include "aggregator/front.h"
#include "aggregator/kind/facts.h"
#include "aggregator/target.h"
#include "apiserver/codec/json.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/test_server.h"
#include "dialled.h"

namespace aggregator_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.

// An extension server of ns/api that answers with the user and the path it was asked by and for.
std::unique_ptr<Target> PathTarget() {
  return std::make_unique<Target>(ServicePair("api.ns.svc"), [](http::Exchange& exchange) {
    const http::Request& request = exchange.request();
    return http_test::Answer(
        exchange, std::string(request.headers.Get("X-Remote-User")) + " " + request.path);
  });
}

TEST_CASE("aggregator: an APIService leads to its extension server while it is there") {
  const std::unique_ptr<Target> target = PathTarget();
  const Front front;
  front.Serve(target->host());
  constexpr char kWidgets[] = "/apis/example.com/v1/namespaces/default/widgets";
  CHECK(front.Get(kWidgets).code == 404);

  REQUIRE(front.AddRemote("example.com", "v1") == 201);
  REQUIRE(front.Becomes("v1.example.com", "True/Passed/all checks passed"));
  REQUIRE(Eventually([&] { return front.Get(kWidgets).code == 200; }));
  const std::string user = "system:apiserver ";
  CHECK(front.Get(kWidgets).body == user + kWidgets);
  CHECK(front.Get("/apis/example.com/v1").body == user + "/apis/example.com/v1");
  CHECK(front.Get("/apis/example.com/v2/widgets").code == 404);
  CHECK(front.Get("/apis/example.com/v10/widgets").code == 404);

  CHECK(front.server->Call("DELETE", std::string(kAPIServices) + "/v1.example.com").code == 200);
  CHECK(Eventually([&] { return front.Get(kWidgets).code == 404; }));
}

TEST_CASE("aggregator: an APIService that is not available is 503 in plain text") {
  const Front front;
  REQUIRE(front.AddRemote("example.com", "v1") == 201);
  REQUIRE(front.Becomes("v1.example.com", R"(False/ServiceNotFound/service/api in "ns" is not )"));
  REQUIRE(Eventually([&] { return front.Get("/apis/example.com/v1/widgets").code == 503; }));
  CHECK(front.Get("/apis/example.com/v1/widgets").body == "service unavailable\n");
  CHECK(front.Get("/metrics")
            .body.find(R"(aggregator_unavailable_apiservice{name="v1.example.com"} 1)") !=
        std::string::npos);
}

TEST_CASE("aggregator: a change of a service is noticed at once") {
  const std::unique_ptr<Target> target = PathTarget();
  const Front front;
  REQUIRE(front.AddRemote("example.com", "v1") == 201);
  REQUIRE(front.Becomes("v1.example.com", "False/ServiceNotFound/"));
  front.Serve(target->host());
  REQUIRE(front.Becomes("v1.example.com", "True/Passed/"));
  front.services->Remove("ns", "api");
  REQUIRE(front.Becomes("v1.example.com", "False/ServiceNotFound/"));
  // Counted when the condition has been written, whose first reason may be that of a check which
  // was under way.
  constexpr char kCounted[] = "aggregator_unavailable_apiservice_total{name=\"v1.example.com\",";
  CHECK(Eventually([&] { return front.Get("/metrics").body.find(kCounted) != std::string::npos; }));
}

TEST_CASE("aggregator: an extension server that dies is noticed after the period") {
  std::unique_ptr<Target> target = PathTarget();
  const std::string host = target->host();
  const Front front(std::chrono::milliseconds(50));
  front.Serve(host);
  REQUIRE(front.AddRemote("example.com", "v1") == 201);
  REQUIRE(front.Becomes("v1.example.com", "True/Passed/"));
  target = nullptr;
  const std::string url = "https://" + host + "/apis/example.com/v1";
  CHECK(front.Becomes("v1.example.com",
                      "False/FailedDiscoveryCheck/failing or missing response from " + url +
                          ": Get \"" + url + "\": dial tcp " + host +
                          ": connect: connection refused"));
}

// Four clients ask without a pause while the APIService is deleted and made again, its service goes
// and comes, and its server says that it fails.
TEST_CASE("aggregator: an APIService that flaps is there, unavailable or gone, and nothing else") {
  std::atomic<bool> fails = false;
  const Target target(ServicePair("api.ns.svc"), [&fails](http::Exchange& exchange) {
    exchange.writer().Send({.code = fails ? 500 : 200}, "");
    return http::Step::Done();
  });
  const std::string host = const_cast<Target&>(target).host();
  const Front front(std::chrono::milliseconds(20), std::chrono::milliseconds(20));
  front.Serve(host);
  constexpr char kWidgets[] = "/apis/example.com/v1/widgets";
  Guarded<std::set<int>> seen;
  std::atomic<bool> over = false;
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      while (!over) {
        const int code = front.Get(kWidgets).code;
        seen.Lock()->insert(code);
      }
    });
  }
  for (int turn = 0; turn < 5; ++turn) {
    CHECK(front.AddRemote("example.com", "v1") == 201);
    CHECK(front.Becomes("v1.example.com", "True/Passed/"));
    front.services->Remove("ns", "api");
    CHECK(front.Becomes("v1.example.com", "False/ServiceNotFound/"));
    front.Serve(host);
    CHECK(front.Becomes("v1.example.com", "True/Passed/"));
    fails = true;
    CHECK(front.Becomes("v1.example.com", "False/FailedDiscoveryCheck/"));
    fails = false;
    const std::string path = std::string(kAPIServices) + "/v1.example.com";
    CHECK(front.server->Call("DELETE", path).code == 200);
    CHECK(Eventually([&] { return front.Get(kWidgets).code == 404; }));
  }
  over = true;
  for (std::thread& client : clients) client.join();
  // 500 is the server's own word, until it is noticed.
  const std::set<int> codes = *seen.Lock();
  for (const int code : codes) CHECK(std::set<int>{200, 404, 500, 503}.contains(code));
  CHECK(front.Get("/readyz").code == 200);
}

// The answers of TestSync of remote_available_controller_test.go.
TEST_CASE("aggregator: an extension server passes with 2xx alone") {
  for (const int code : {200, 204, 302, 304, 403}) {
    CAPTURE(code);
    Guarded<std::optional<http::Request>> probe;
    Target target(ServicePair("other.ns.svc"), [code, &probe](http::Exchange& exchange) {
      // Only requests for discovery have an Accept header.
      if (exchange.request().headers.Get("Accept").empty()) *probe.Lock() = exchange.request();
      exchange.writer().Send({.code = code, .headers = {{"Location", "/test"}}}, "");
      return http::Step::Done();
    });
    const Front front;
    front.Serve(target.host());
    REQUIRE(front.AddRemote("example.com", "v1") == 201);
    const std::string url = "https://" + target.host() + "/apis/example.com/v1";
    const std::string failed = "False/FailedDiscoveryCheck/failing or missing response from " +
                               url + ": bad status from " + url + ": " + std::to_string(code);
    CHECK(front.Becomes("v1.example.com", code < 300 ? "True/Passed/all checks passed" : failed));
    const auto seen = *probe.Lock();
    REQUIRE(seen.has_value());
    CHECK(seen->headers.Get("X-Remote-User") == "system:kube-aggregator");
    CHECK(seen->headers.GetAll("X-Remote-Group") ==
          std::vector<std::string_view>{"system:masters"});
  }
}

struct CheckCase {
  std::string name;
  std::optional<aggregator::Service> service;
  std::vector<aggregator::EndpointSlice> slices = {};
  std::string expected = {};  // Empty: the server is to be asked.
};

// The rows of TestSync of remote_available_controller_test.go that ask no server, and more.
TEST_CASE("aggregator: a service without endpoints is not asked") {
  const auto bar = [](int port, std::string type = "ClusterIP") {
    return aggregator::Service{
        .namespace_ = "foo", .name = "bar", .type = std::move(type), .ports = {{"testPort", port}}};
  };
  const auto slice = [](std::string port, std::optional<bool> ready = std::nullopt) {
    return aggregator::EndpointSlice{.endpoints = {{{"val"}, ready}},
                                     .ports = {{std::move(port), 1234}}};
  };
  const std::string missing =
      "False MissingEndpoints endpointslices for service/bar in \"foo\" have no addresses with "
      "port name \"testPort\"";
  const std::vector<CheckCase> cases{
      {"no service",
       std::nullopt,
       {},
       "False ServiceNotFound service/bar in \"foo\" is not present"},
      {"service on bad port",
       bar(6443),
       {slice("testPort")},
       "False ServicePortError service/bar in \"foo\" is not listening on port 1234"},
      {"no endpoints",
       bar(1234),
       {},
       "False EndpointsNotFound cannot find endpointslices for service/bar in \"foo\""},
      {"missing endpoints", bar(1234), {{}}, missing},
      {"wrong endpoint port name", bar(1234), {slice("wrongName")}, missing},
      {"endpoints not ready", bar(1234), {slice("testPort", false)}, missing},
      {"ready in one slice, the port in another",
       bar(1234),
       {slice("wrongName"), slice("testPort", false)},
       missing},
      {"remote", bar(1234), {slice("testPort")}},
      {"external name", bar(6443, "ExternalName")},
  };
  for (const CheckCase& each : cases) {
    CAPTURE(each.name);
    const auto services = aggregator::NewStaticServices();
    if (each.service) services->Set(*each.service);
    services->SetEndpointSlices("foo", "bar", each.slices);
    const auto condition = aggregator::CheckService(
        *services, {.service_namespace = "foo", .service_name = "bar", .service_port = 1234});
    const std::string said =
        condition ? condition->status + " " + condition->reason + " " + condition->message : "";
    CHECK(said == each.expected);
  }
}

// TestSortedAPIServicesByVersion of helpers_test.go.
TEST_CASE("aggregator: versions of equal priority are sorted as upstream does") {
  struct Case {
    std::vector<std::string> versions;
    std::vector<std::string> expected;
  };
  const std::vector<Case> cases{
      {{"v1", "v2"}, {"v2", "v1"}},
      {{"v2", "v10"}, {"v10", "v2"}},
      {{"v2", "v2beta1", "v10beta2", "v10beta1", "v10alpha1", "v1"},
       {"v2", "v1", "v10beta2", "v10beta1", "v2beta1", "v10alpha1"}},
      {{"v1", "v2", "test", "foo10", "final", "foo2", "foo1"},
       {"v2", "v1", "final", "foo1", "foo10", "foo2", "test"}},
      {{"v12alpha1", "v10", "v11beta2", "v10beta3", "v3beta1", "v2", "v11alpha2", "foo1", "v1",
        "foo10"},
       {"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1",
        "foo10"}},
  };
  for (const Case& each : cases) {
    std::vector<aggregator::Facts> all;
    for (const std::string& version : each.versions) {
      all.push_back({.name = "", .group = "", .version = version, .version_priority = 100});
    }
    std::vector<const aggregator::Facts*> given;
    for (const aggregator::Facts& facts : all) given.push_back(&facts);
    const auto groups = aggregator::SortedByGroupAndVersion(given);
    REQUIRE(groups.size() == 1);
    std::vector<std::string> sorted;
    for (const aggregator::Facts* const facts : groups[0]) sorted.push_back(facts->version);
    CHECK(sorted == each.expected);
  }
}

TEST_CASE("aggregator: discovery has the order of the APIServices, its own group first") {
  const Front front;
  REQUIRE(front.Add("low.com", "v1", "", 10) == 201);
  const std::string service = R"("service":{"namespace":"ns","name":"api"},)";
  REQUIRE(front.Add("high.com", "v1", service, 2000, 1) == 201);
  REQUIRE(front.Add("high.com", "v1beta1", service, 5, 2) == 201);
  REQUIRE(front.Add("mid.com", "v1", service, 1500) == 201);
  const auto groups = [&] {
    runtime::Arena arena;
    const auto answer = front.Get("/apis");
    const auto root = codec::ParseJson(arena.Copy(answer.body), arena).value();
    std::string names;
    for (const runtime::Value& group : root["groups"].items()) {
      names += std::string(group["name"].AsString()) + ":";
      for (const runtime::Value& version : group["versions"].items()) {
        names += std::string(version["version"].AsString()) + ",";
      }
    }
    return names;
  };
  CHECK(Eventually([&] {
    return groups() == "apiregistration.k8s.io:v1,high.com:v1beta1,v1,mid.com:v1,low.com:v1,";
  }));
  const auto group = front.Get("/apis/high.com");
  CHECK(group.code == 200);
  CHECK(group.body.find(
            R"("preferredVersion":{"groupVersion":"high.com/v1beta1","version":"v1beta1"})") !=
        std::string::npos);
  const auto aggregated = front.Get(
      "/apis",
      {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}});
  CHECK(aggregated.body.find(R"({"version":"v1beta1","freshness":"Stale"})") != std::string::npos);
}

TEST_CASE("aggregator: a local APIService is listed, though nobody serves it") {
  const Front front;
  CHECK(front.Get("/apis/local.com").code == 404);
  REQUIRE(front.Add("local.com", "v1", "", 10) == 201);
  REQUIRE(front.Add("local.com", "v2", "", 10, 5) == 201);
  const std::string versions = R"("versions":[{"groupVersion":"local.com/v1","version":"v1"},)"
                               R"({"groupVersion":"local.com/v2","version":"v2"}],)";
  const auto has = [&front](const std::string& path, const std::string& text) {
    return front.Get(path).body.find(text) != std::string::npos;
  };
  CHECK(Eventually([&] { return has("/apis/local.com", versions); }));
  CHECK(Eventually([&] { return has("/apis", versions); }));
  CHECK(front.Get("/apis/local.com/v1").code == 404);
  const auto aggregated = front.Get(
      "/apis",
      {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}});
  CHECK(aggregated.body.find("local.com") == std::string::npos);
  for (const char* const name : {"/v1.local.com", "/v2.local.com"}) {
    CHECK(front.server->Call("DELETE", std::string(kAPIServices) + name).code == 200);
  }
  CHECK(Eventually([&] { return front.Get("/apis/local.com").code == 404; }));
}

TEST_CASE("aggregator: an upgraded connection ends when the server stops", "[aggregator]") {
  Target target(ServicePair("api.ns.svc"));
  Front front(std::chrono::seconds(30), std::chrono::minutes(1), {}, nullptr, std::nullopt, true);
  front.Serve(target.host());
  REQUIRE(front.AddRemote("peer.com", "v1") == 201);
  REQUIRE(front.Becomes("v1.peer.com", "True/Passed/"));
  testing::Dialled client(*front.server);
  const auto opened =
      client.connection().Open({.target = "/apis/peer.com/v1/echo",
                                .headers = {{"Connection", "Upgrade"}, {"Upgrade", "echo"}}});
  REQUIRE(opened.ok());
  REQUIRE((*opened)->Head(http_test::Soon())->code == 101);
  const auto begun = RealClock().Now();

  front.server->server().Stop();

  // The grace is five seconds.
  CHECK(RealClock().Now() - begun < std::chrono::seconds(4));
  const auto rest = (*opened)->Read(http_test::Soon());
  CHECK((rest.ok() && rest->empty()));
}

TEST_CASE("aggregator: an aggregator without a resolver is refused") {
  testing::TestServerOptions options;
  Status refused;
  const auto engine = storage::memory::NewEngine();
  options.install = [&](server::GenericAPIServer& api) -> Status {
    refused = aggregator::Install(api, api.Storage(*engine), {}).status();
    return {};
  };
  REQUIRE(testing::StartTestServer(std::move(options)).ok());
  CHECK(refused.reason() == Reason::kInvalid);
}

}  // namespace
}  // namespace aggregator_test
