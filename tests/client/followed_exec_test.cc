#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/client_config.h"
#include "apiserver/codec/json.h"
#include "apiserver/http/tls.h"
#include "client/fake_http_client.h"
#include "client/scripted_plug_in.h"

namespace apiserver::inline v0::client {
namespace {

using std::chrono::milliseconds;
using testing::FakeHttpClient;
using testing::ScriptedPlugIn;

// A client whose server takes one token, and which counts the clients that it makes below.
struct ExecWorld {
  explicit ExecWorld(const ScriptedPlugIn& plug_in) : client(Make(plug_in)) {}

  std::shared_ptr<HttpClient> Make(const ScriptedPlugIn& plug_in) {
    const auto new_client =
        [this](const HttpClientOptions& options) -> Result<std::shared_ptr<HttpClient>> {
      pairs.push_back(options.tls.client);
      return std::make_shared<FakeHttpClient>([this](const HttpRequest& request) {
        seen = request.headers.Get("Authorization");
        left = request.timeout;
        return http::ClientResponse{.code = seen == "Bearer " + accepted ? 200 : 401};
      });
    };
    return NewFollowedClient(plug_in.config(), {.new_client = new_client, .executor = pool.get()})
        .value();
  }
  Result<http::ClientResponse> Call(HttpRequest request = {}) const {
    request.url = "https://a.test/x";
    return client->Call(Context::Background(), std::move(request));
  }
  int Code() const { return Call().value().code; }

  std::unique_ptr<ThreadPool> pool = NewThreadPool();
  std::string accepted = "first";
  std::string seen;
  milliseconds left{0};
  std::vector<http::KeyPair> pairs;
  std::shared_ptr<HttpClient> client;
};

TEST_CASE("client: calls have the token of a plug-in, and another one after a 401", "[client]") {
  const ScriptedPlugIn plug_in(ScriptedPlugIn::Printing(R"("token":"first")"));
  ExecWorld world(plug_in);
  CHECK(plug_in.runs() == 0);
  CHECK(world.Code() == 200);
  CHECK(world.Code() == 200);
  CHECK(plug_in.runs() == 1);
  CHECK(world.left <= std::chrono::seconds(10));

  world.accepted = "second";
  plug_in.Become(ScriptedPlugIn::Printing(R"("token":"second")"));
  CHECK(world.Code() == 401);
  CHECK(world.Code() == 200);
  CHECK(plug_in.runs() == 2);
  CHECK(world.pairs.size() == 1);
}

TEST_CASE("client: a call with credentials of its own needs no plug-in", "[client]") {
  const ScriptedPlugIn plug_in("exit 1");
  const ExecWorld world(plug_in);
  CHECK(world.Call({.headers = {{"Authorization", "Bearer first"}}}).value().code == 200);
  CHECK(plug_in.runs() == 0);
  CHECK(world.Call().status() ==
        Status(Reason::kServiceUnavailable, "getting credentials: exec: executable " +
                                                plug_in.path() + " failed with exit code 1"));
}

TEST_CASE("client: calls are made with the certificate of a plug-in", "[client]") {
  const auto first = http::NewCertificateAuthority("first", RealClock()).value();
  const auto second = http::NewCertificateAuthority("second", RealClock()).value();
  const auto printing = [](const http::KeyPair& pair) {
    std::string json = R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
                       R"("status":{"clientCertificateData":)";
    codec::AppendJsonString(pair.certificate_pem, json);
    json += R"(,"clientKeyData":)";
    codec::AppendJsonString(pair.key_pem, json);
    return "cat <<'END'\n" + json + "}}\nEND";
  };
  const ScriptedPlugIn plug_in(printing(first));
  const ExecWorld world(plug_in);
  CHECK(world.Code() == 401);
  CHECK(world.seen.empty());
  plug_in.Become(printing(second));
  // The first answer may have begun a run of the first script.
  while (world.pairs.back() != second) CHECK(world.Code() == 401);
  CHECK(world.pairs.front() == http::KeyPair{});
  CHECK(world.pairs.at(1) == first);
  CHECK(world.pairs.size() == 3);
}

TEST_CASE("client: a call waits for a plug-in within its timeout", "[client]") {
  const ScriptedPlugIn plug_in("sleep 1000");
  const ExecWorld world(plug_in);
  CHECK(world.Call({.timeout = milliseconds(100)}).status() ==
        Status(Reason::kTimeout, "getting credentials: context deadline exceeded"));
}

TEST_CASE("client: a client may go while its plug-in runs", "[client]") {
  const ScriptedPlugIn plug_in("sleep 1000");
  ExecWorld world(plug_in);
  Notification ended;
  world.client->Start(Context::Background(), {.url = "https://a.test/x"},
                      [&](const Result<http::ClientResponse>& got) {
                        CHECK(got.status().message() == "getting credentials: the client is gone");
                        ended.Notify();
                      });
  world.client.reset();
  CHECK(ended.HasBeenNotified());
}

}  // namespace
}  // namespace apiserver::inline v0::client
