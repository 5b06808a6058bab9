#pragma once

#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/aggregator/aggregator.h"
#include "apiserver/base/source.h"
#include "apiserver/codec/json.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/eventually.h"
#include "apiserver/testing/server/test_server.h"
#include "http/support.h"
#include "text/base64.h"

// A server with an aggregator, and the words in which tests talk to it.
namespace aggregator_test {

namespace aggregator = apiserver::aggregator;
namespace server = apiserver::server;
namespace testing = apiserver::testing;
namespace http = apiserver::http;
namespace runtime = apiserver::runtime;
namespace codec = apiserver::codec;
namespace storage = apiserver::storage;
namespace text = apiserver::text;
using apiserver::Status;
using testing::Eventually;

inline constexpr char kAPIServices[] = "/apis/apiregistration.k8s.io/v1/apiservices";

// A server with an aggregator in front, whose extension servers are services of `services`.
struct Front {
  explicit Front(
      std::chrono::milliseconds period = std::chrono::seconds(30),
      std::chrono::milliseconds discovery_period = std::chrono::minutes(1),
      std::vector<server::Resource> registered = {},
      const std::shared_ptr<apiserver::discovery::DefinedVersions>& definitions = nullptr,
      std::optional<http::KeyPair> client = std::nullopt, bool listen = false) {
    testing::TestServerOptions options;
    options.listen = listen;
    const bool auto_register = !registered.empty() || definitions;
    options.kinds = std::move(registered);
    std::shared_ptr<const apiserver::Source<http::KeyPair>> proxy_client;
    if (client) {
      proxy_client = std::make_shared<apiserver::Variable<http::KeyPair>>(*std::move(client));
    }
    options.install = [this, period, discovery_period, auto_register, definitions,
                       proxy_client](server::GenericAPIServer& api) -> Status {
      auto installed =
          aggregator::Install(api, api.Storage(*engine),
                              {.dialer = dialer.get(),
                               .service_resolver = aggregator::NewEndpointServiceResolver(services),
                               .services = services,
                               .proxy_client = proxy_client,
                               .availability_period = period,
                               .discovery_period = discovery_period,
                               .auto_register = auto_register,
                               .definitions = definitions});
      if (!installed.ok()) return installed.status();
      aggregated = *std::move(installed);
      return {};
    };
    options.engine = engine.get();
    auto started = testing::StartTestServer(std::move(options));
    INFO(started.status().ToString());
    REQUIRE(started.ok());
    server = *std::move(started);
    REQUIRE(aggregated->WaitForSync(std::chrono::seconds(10)));
  }

  // Lets the service ns/api be the server at `host`, "127.0.0.1:<port>".
  void Serve(const std::string& host) const {
    services->Set({.namespace_ = "ns", .name = "api", .ports = {{"https", 443}}});
    const int port = std::stoi(host.substr(host.find(':') + 1));
    services->SetEndpointSlices("ns", "api",
                                {{.endpoints = {{{"127.0.0.1"}}}, .ports = {{"https", port}}}});
  }

  http::ClientResponse Get(const std::string& path, http::Headers headers = {}) const {
    return server->Call("GET", path, "", std::move(headers));
  }

  // Creates the APIService of a group version; `service`: JSON members of its spec.
  int Add(const std::string& group, const std::string& version, const std::string& service,
          int priority = 100, int version_priority = 10) const {
    const std::string body =
        R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":")" +
        version + "." + group + R"("},"spec":{"group":")" + group + R"(","version":")" + version +
        R"(",)" + service + R"("groupPriorityMinimum":)" + std::to_string(priority) +
        R"(,"versionPriority":)" + std::to_string(version_priority) + "}}";
    return server->Call("POST", kAPIServices, body).code;
  }
  // An APIService whose server is ns/api, with the authority of the tests.
  int AddRemote(const std::string& group, const std::string& version) const {
    std::string bundle;
    text::AppendBase64(http_test::Pki().ca.certificate_pem, bundle);
    return Add(group, version,
               R"("service":{"namespace":"ns","name":"api"},"caBundle":")" + bundle + R"(",)");
  }

  // Returns "True/Reason/message" of the condition Available.
  std::string Available(const std::string& name) const {
    const auto answer = Get(std::string(kAPIServices) + "/" + name);
    runtime::Arena arena;
    const auto root = codec::ParseJson(arena.Copy(answer.body), arena);
    if (!root.ok()) return "";
    const runtime::Value condition = (*root)["status"]["conditions"].at(0);
    return std::string(condition["status"].AsString()) + "/" +
           std::string(condition["reason"].AsString()) + "/" +
           std::string(condition["message"].AsString());
  }
  testing::WaitResult Becomes(const std::string& name, const std::string& condition) const {
    return Eventually([&] { return Available(name).starts_with(condition); },
                      {.describe = [&] { return Available(name); }});
  }

  std::unique_ptr<http::Dialer> dialer = http::NewDialer();
  std::shared_ptr<aggregator::StaticServices> services = aggregator::NewStaticServices();
  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<aggregator::APIAggregator> aggregated;
  std::unique_ptr<testing::TestServer> server;
};

}  // namespace aggregator_test
