#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

#include "apiserver/aggregator/services.h"

namespace aggregator_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using aggregator::Endpoint;
using aggregator::EndpointSlice;
using aggregator::Service;

std::string ResolvedAt(const aggregator::ServiceResolver& resolver, const Service& service) {
  const auto host = resolver.ResolveEndpoint(service.namespace_, service.name, 443);
  return host.ok() ? *host : std::string(host.status().message());
}

struct ResolveCase {
  std::string name;
  std::string type;
  std::string address;  // Of the cluster, or external.
  bool https = true;    // Has port 443.
  std::vector<EndpointSlice> slices = {};
  std::string cluster;
  std::string endpoint;
};

// TestResolve of k8s.io/apiserver/pkg/util/proxy, with the texts of its errors.
TEST_CASE("aggregator: services are resolved as upstream does") {
  const std::vector<EndpointSlice> matching{
      {.endpoints = {{.addresses = {"127.0.0.1"}}}, .ports = {{"https", 1443}, {"", 1234}}}};
  const std::string no_port = "no service port 443 found for service \"alfa\"";
  const std::string no_endpoints = "no endpoints available for service \"alfa\"";
  const std::vector<ResolveCase> cases{
      {"cluster ip without 443 port", "ClusterIP", "hit", false, matching, no_port, no_port},
      {"cluster ip", "ClusterIP", "hit", true, matching, "hit:443", "127.0.0.1:1443"},
      {"cluster ip without endpointslices", "ClusterIP", "hit", true, {}, "hit:443", no_endpoints},
      {"endpointslice without addresses", "ClusterIP", "hit", true, {{}}, "hit:443", no_endpoints},
      {"none cluster ip",
       "ClusterIP",
       "None",
       false,
       {},
       "cannot route to service with ClusterIP \"None\"",
       no_port},
      {"loadbalancer", "LoadBalancer", "lb", true, matching, "lb:443", "127.0.0.1:1443"},
      {"node port", "NodePort", "np", true, matching, "np:443", "127.0.0.1:1443"},
      {"external name",
       "ExternalName",
       "foo.bar.com",
       false,
       {},
       "foo.bar.com:443",
       "unsupported service type \"ExternalName\""},
      {"unsupported service",
       "unsupported",
       "",
       false,
       {},
       "unsupported service type \"unsupported\"",
       "unsupported service type \"unsupported\""},
      {"missing service",
       "",
       "",
       false,
       {},
       "service \"alfa\" not found",
       "service \"alfa\" not found"},
      {"a cluster ip of v6", "ClusterIP", "fd00::1", true, {}, "[fd00::1]:443", no_endpoints},
  };
  for (const ResolveCase& each : cases) {
    CAPTURE(each.name);
    Service service{.namespace_ = "one", .name = "alfa", .type = each.type};
    service.cluster_ip = service.external_name = each.address;
    if (each.https) service.ports.push_back({"https", 443});
    service.ports.push_back({"", 1234});
    const auto services = aggregator::NewStaticServices();
    if (!each.type.empty()) services->Set(service);
    services->SetEndpointSlices("one", "alfa", each.slices);
    CHECK(ResolvedAt(*aggregator::NewClusterIPServiceResolver(services), service) == each.cluster);
    CHECK(ResolvedAt(*aggregator::NewEndpointServiceResolver(services), service) == each.endpoint);
  }
}

struct DistributionCase {
  std::string name;
  std::vector<std::string> families;
  std::vector<EndpointSlice> slices;
  std::set<std::string> expected;
};

EndpointSlice SliceOf(std::string type, std::vector<Endpoint> endpoints,
                      std::string port = "https") {
  return {std::move(type), std::move(endpoints), {{std::move(port), 443}}};
}

// TestResolveEndpointDistribution of k8s.io/apiserver/pkg/util/proxy.
TEST_CASE("aggregator: each ready endpoint of the primary family gets its share") {
  const std::vector<std::string> dual{"IPv4", "IPv6"};
  const std::vector<DistributionCase> cases{
      {"simple",
       {"IPv4"},
       {SliceOf("IPv4", {{{"10.0.0.1"}}}), SliceOf("IPv4", {{{"10.0.0.2"}}})},
       {"10.0.0.1:443", "10.0.0.2:443"}},
      {"multiple endpoints, some non-ready",
       {"IPv4"},
       {SliceOf("IPv4", {{{"10.0.0.1"}}, {{"10.0.0.2"}, false}, {{"10.0.0.3"}, true}}),
        SliceOf("IPv4", {{{"10.0.0.4"}, true}}),
        SliceOf("IPv4", {{{"10.0.0.5"}, false}, {{"10.0.0.6"}, false}})},
       {"10.0.0.1:443", "10.0.0.3:443", "10.0.0.4:443"}},
      {"dual-stack, primary-family endpoints ready",
       dual,
       {SliceOf("IPv6", {{{"fd00::1"}, true}, {{"fd00::2"}, true}}),
        SliceOf("IPv4", {{{"10.0.0.1"}, true}, {{"10.0.0.2"}, true}})},
       {"10.0.0.1:443", "10.0.0.2:443"}},
      {"dual-stack, primary-family endpoints non-ready",
       dual,
       {SliceOf("IPv4", {{{"10.0.0.1"}, false}, {{"10.0.0.2"}, false}}),
        SliceOf("IPv6", {{{"fd00::1"}, true}, {{"fd00::2"}, true}})},
       {"[fd00::1]:443", "[fd00::2]:443"}},
      {"many slices, many endpoints, most unusable",
       dual,
       {SliceOf("IPv4", {{{"10.0.0.1"}, false}}),
        SliceOf("IPv6", {{{"fd00::1"}, true}, {{"fd00::2"}, true}}), SliceOf("IPv4", {}),
        SliceOf("IPv4", {{{"10.0.0.2"}, true}}), SliceOf("IPv4", {{{"10.0.0.3"}, true}}, "http")},
       {"10.0.0.2:443"}},
  };
  const auto random = NewSeededRandom(1);
  for (const DistributionCase& each : cases) {
    CAPTURE(each.name);
    const Service service{.namespace_ = "test",
                          .name = "stack",
                          .ip_families = each.families,
                          .ports = {{"https", 443}}};
    const auto services = aggregator::NewStaticServices();
    services->Set(service);
    services->SetEndpointSlices("test", "stack", each.slices);
    const auto resolver = aggregator::NewEndpointServiceResolver(services, *random);
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) seen.insert(ResolvedAt(*resolver, service));
    CHECK(seen == each.expected);
  }
}

TEST_CASE("aggregator: default/kubernetes is this server") {
  const auto services = aggregator::NewStaticServices();
  const auto resolver = aggregator::NewLoopbackServiceResolver(
      aggregator::NewClusterIPServiceResolver(services), "127.0.0.1:6443");
  CHECK(resolver->ResolveEndpoint("default", "kubernetes", 443).value() == "127.0.0.1:6443");
  CHECK(resolver->ResolveEndpoint("default", "kubernetes", 80).status().reason() ==
        Reason::kNotFound);
}

TEST_CASE("aggregator: changes of services are told") {
  const auto services = aggregator::NewStaticServices();
  std::vector<std::string> told;
  services->SetOnChange([&](std::string_view service_namespace, std::string_view name) {
    told.push_back(std::string(service_namespace) + "/" + std::string(name));
  });
  services->Set({.namespace_ = "a", .name = "b"});
  services->SetEndpointSlices("a", "c", {});
  services->Remove("a", "b");
  CHECK(services->FindService("a", "b").status().reason() == Reason::kNotFound);
  services->SetOnChange(nullptr);
  services->Set({.namespace_ = "a", .name = "b"});
  CHECK(told == std::vector<std::string>{"a/b", "a/c", "a/b"});
}

}  // namespace
}  // namespace aggregator_test
