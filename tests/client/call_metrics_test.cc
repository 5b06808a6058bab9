// Calls to other servers in metrics: component-base/metrics/prometheus/restclient.
#include "apiserver/client/call_metrics.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/testing/server/fake_clock.h"
#include "client/fake_http_client.h"

namespace apiserver::inline v0::client {
namespace {

using testing::FakeClock;
using testing::FakeHttpClient;
using namespace std::chrono_literals;

struct CountedCalls {
  explicit CountedCalls(FakeHttpClient::Answer answer = nullptr)
      : fake(std::make_shared<FakeHttpClient>(std::move(answer))),
        client(WithMetrics(fake, registry, clock)) {}
  bool Shows(const std::string& line) {
    const std::string text = registry->Serialize();
    UNSCOPED_INFO(text);
    return text.find("rest_client_" + line + "\n") != std::string::npos;
  }
  FakeClock clock;
  std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();
  std::shared_ptr<FakeHttpClient> fake;
  std::shared_ptr<HttpClient> client;
};

}  // namespace

// client-go/rest/request.go: sanitize.
TEST_CASE("client: calls are counted by code, method and host", "[client]") {
  Result<http::ClientResponse> answer = http::ClientResponse{.code = 200};
  CountedCalls calls([&answer](const HttpRequest&) { return answer; });
  const auto call = [&calls](const char* method, const char* url) {
    return calls.client->Call(Context::Background(), {.method = method, .url = url}).ok();
  };
  CHECK(call("POST", "https://me:secret@hook.test:8443/x?timeout=10s"));
  CHECK(call("POST", "https://hook.test:8443/y"));
  CHECK(call("GET", "https://issuer.test/.well-known/openid-configuration"));
  answer = http::ClientResponse{.code = 503};
  CHECK(call("POST", "https://hook.test:8443/x"));
  answer = Status(Reason::kServiceUnavailable, "connection refused");
  CHECK_FALSE(call("POST", "https://hook.test:8443/x"));
  CHECK_FALSE(call("POST", "/no/server"));

  CHECK(calls.Shows("requests_total{code=\"200\",method=\"POST\",host=\"hook.test:8443\"} 2"));
  CHECK(calls.Shows("requests_total{code=\"200\",method=\"GET\",host=\"issuer.test\"} 1"));
  CHECK(calls.Shows("requests_total{code=\"503\",method=\"POST\",host=\"hook.test:8443\"} 1"));
  CHECK(calls.Shows("requests_total{code=\"<error>\",method=\"POST\",host=\"hook.test:8443\"} 1"));
  CHECK(calls.Shows("requests_total{code=\"<error>\",method=\"POST\",host=\"none\"} 1"));
  CHECK(calls.Shows("request_duration_seconds_count{verb=\"POST\",host=\"hook.test:8443\"} 4"));
  CHECK(calls.registry->Serialize().find("secret") == std::string::npos);
}

TEST_CASE("client: a call's time is that until its answer", "[client]") {
  CountedCalls calls;
  int done = 0;
  calls.client->Start(
      Context::Background(), {.url = "https://hook.test/x"},
      [&done](const Result<http::ClientResponse>& outcome) { done = outcome->code; });
  calls.clock.Advance(300ms);
  CHECK_FALSE(calls.Shows("requests_total{code=\"201\",method=\"POST\",host=\"hook.test\"} 1"));
  // Whoever made the call may be gone by then.
  calls.client = nullptr;

  calls.fake->End(http::ClientResponse{.code = 201});

  CHECK(done == 201);
  CHECK(calls.Shows("requests_total{code=\"201\",method=\"POST\",host=\"hook.test\"} 1"));
  const std::string bucket = "request_duration_seconds_bucket{verb=\"POST\",host=\"hook.test\",le=";
  CHECK(calls.Shows(bucket + "\"0.25\"} 0"));
  CHECK(calls.Shows(bucket + "\"0.5\"} 1"));
  CHECK(calls.Shows(bucket + "\"60\"} 1"));
}

TEST_CASE("client: a factory's clients are counted, and its errors are its own", "[client]") {
  const std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();
  CHECK_FALSE(WithMetrics(HttpClientFactory(), registry));
  const HttpClientFactory factory = WithMetrics(
      [](const HttpClientOptions& options) -> Result<std::shared_ptr<HttpClient>> {
        if (!options.address.empty()) return Status(Reason::kInvalid, "no such address");
        return std::make_shared<FakeHttpClient>(
            [](const HttpRequest&) { return http::ClientResponse{.code = 404}; });
      },
      registry);
  CHECK(factory({.address = "x"}).status().message() == "no such address");
  for (int i = 0; i < 2; ++i) {
    REQUIRE((*factory({}))->Call(Context::Background(), {.url = "https://x.test"}).ok());
  }
  CHECK(registry->Serialize().find("rest_client_requests_total{code=\"404\",method=\"POST\",host="
                                   "\"x.test\"} 2\n") != std::string::npos);
}

}  // namespace apiserver::inline v0::client
