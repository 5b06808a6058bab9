#include <catch2/catch.hpp>

#include <set>
#include <string>

#include "aggregator/front.h"
#include "apiserver/aggregator/services.h"
#include "apiserver/client/client.h"
#include "served_kinds.h"

namespace aggregator_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.

constexpr char kServices[] = "/api/v1/namespaces/ns/services";
constexpr char kSlices[] = "/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices";
constexpr char kService[] = R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"api"},
"spec":{"ports":[{"name":"https","port":443}]}})";

std::string SliceJson(const std::string& service, const std::string& address) {
  return R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"api-1",
"labels":{"kubernetes.io/service-name":")" +
         service + R"("}},"addressType":"IPv4","endpoints":[{"addresses":["9.9.9.9"],
"conditions":{"ready":false}},{"addresses":[")" +
         address + R"("]}],"ports":[{"name":"https","port":8443}]})";
}

TEST_CASE("aggregator: services are those of a server, as they change") {
  testing::TestServerOptions options;
  options.kinds = testing::ServedKinds({"Service", "EndpointSlice"});
  const auto services = aggregator::NewInformedServices();
  CHECK(services->FindService("ns", "api").status().reason() == Reason::kServiceUnavailable);
  options.install = [&services](server::GenericAPIServer& api) -> Status {
    const Status hooked =
        api.AddPostStartHook("follow", [services](const server::HookContext& hook) -> Status {
          services->Start(client::NewClient(hook.server.LoopbackConnection()));
          return {};
        });
    if (!hooked.ok()) return hooked;
    return api.AddPreShutdownHook("follow", [services](const server::HookContext&) -> Status {
      services->Stop();
      return {};
    });
  };
  auto started = testing::StartTestServer(std::move(options));
  INFO(started.status().ToString());
  REQUIRE(started.ok());
  testing::TestServer& api = **started;
  REQUIRE(services->WaitForSync(std::chrono::seconds(10)));
  Guarded<std::set<std::string>> changed;
  services->SetOnChange([&changed](std::string_view in, std::string_view name) {
    changed.Lock()->insert(std::string(in) + "/" + std::string(name));
  });
  const auto resolver = aggregator::NewReachableServiceResolver(services);
  const auto becomes = [&resolver](const std::string& expected) {
    return Eventually([&] {
      const auto host = resolver->ResolveEndpoint("ns", "api", 443);
      return (host.ok() ? *host : std::string(host.status().message())) == expected;
    });
  };
  CHECK(becomes("service \"api\" not found"));
  REQUIRE(api.Call("POST", kSlices, SliceJson("api", "1.2.3.4")).code == 201);
  CHECK(becomes("service \"api\" not found"));
  REQUIRE(api.Call("POST", kServices, kService).code == 201);
  CHECK(becomes("1.2.3.4:8443"));
  CHECK(changed.Lock()->contains("ns/api"));
  const std::string slice = std::string(kSlices) + "/api-1";
  REQUIRE(api.Call("PUT", slice, SliceJson("api", "1.2.3.5")).code == 200);
  CHECK(becomes("1.2.3.5:8443"));
  // It belongs to another service from now on.
  REQUIRE(api.Call("PUT", slice, SliceJson("other", "1.2.3.5")).code == 200);
  CHECK(becomes("no endpoints available for service \"api\""));
  REQUIRE(api.Call("PUT", std::string(kServices) + "/api",
                   R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"api"},
"spec":{"type":"ExternalName","externalName":"example.com"}})")
              .code == 200);
  CHECK(becomes("example.com:443"));
  services->SetOnChange(nullptr);
  REQUIRE(api.Call("DELETE", std::string(kServices) + "/api").code == 200);
  CHECK(becomes("service \"api\" not found"));
}

TEST_CASE("aggregator: services are known of a server without EndpointSlices") {
  testing::TestServerOptions options;
  options.kinds = testing::ServedKinds({"Service"});
  const auto services = aggregator::NewInformedServices();
  auto started = testing::StartTestServer(std::move(options));
  REQUIRE(started.ok());
  REQUIRE((*started)->Call("POST", kServices, kService).code == 201);
  services->Start(client::NewClient((*started)->server().LoopbackConnection()), /*slices=*/false);
  REQUIRE(services->WaitForSync(std::chrono::seconds(10)));
  CHECK(services->FindService("ns", "api").ok());
  CHECK(services->FindEndpointSlices("ns", "api").status().reason() == Reason::kServiceUnavailable);
  services->Stop();
}

TEST_CASE("aggregator: services that are stopped let go of their client") {
  testing::TestServerOptions options;
  options.kinds = testing::ServedKinds({"Service", "EndpointSlice"});
  const auto services = aggregator::NewInformedServices();
  auto started = testing::StartTestServer(std::move(options));
  REQUIRE(started.ok());
  std::shared_ptr<client::Client> client =
      client::NewClient((*started)->server().LoopbackConnection());
  const std::weak_ptr<client::Client> watched = client;
  services->Start(std::move(client));
  REQUIRE(services->WaitForSync(std::chrono::seconds(10)));
  services->Stop();
  CHECK(watched.expired());
  // The services that it knew are still found.
  CHECK(services->FindService("ns", "api").status().reason() == Reason::kNotFound);
}

}  // namespace
}  // namespace aggregator_test
