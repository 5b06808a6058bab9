// As whom webhooks are called.
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "webhook_fixture.h"

using namespace apiserver;  // NOLINT: tests only.
using namespace apiserver::testing;

namespace {

// Keeps the look at the files that is to come.
class LooksOnDemand final : public Executor {
 public:
  void Post(Task task) override { task(); }
  Cancel PostAfter(std::chrono::nanoseconds /*delay*/, Task task) override {
    next_ = std::move(task);
    return [] {};
  }
  bool may_block() const override { return true; }
  bool Inside() const override { return true; }
  void Look() { std::exchange(next_, nullptr)(); }

 private:
  Task next_;
};

// Validating webhooks on several servers, and a kubeconfig with users for them.
struct CalledAs {
  explicit CalledAs(const std::string& users) {
    AnswerAsUpstream(servers);
    for (const std::string name : {"ca", "certificate1", "key1"}) Write(name, name);
    Write("token", "token1");
    options.new_client = servers.Factory();
    options.users =
        std::make_shared<const client::WebhookUsers>(client::WebhookUsers::Read(users, "").value());
    options.executor = &executor;
    options.files = files.get();
  }
  void Write(const std::string& name, const std::string& text) {
    REQUIRE(files->WriteAtomically("/" + name, text, 0600).ok());
  }
  void Start(std::vector<client::WebhookClientConfig> places) {
    admission::Webhooks webhooks;
    for (std::size_t i = 0; i < places.size(); ++i) {
      webhooks.push_back(WebhookAt(std::to_string(i), "noop"));
      webhooks.back().client_config = places[i];
    }
    options.webhooks = admission::NewStaticWebhooks(std::move(webhooks));
    chain.emplace(std::vector{admission::NewValidatingWebhookAdmission(options)}, *registry,
                  RealClock());
  }
  Status Run() {
    WidgetRequest request;
    return chain->Validate(request.ctx, request.Attributes());
  }
  // What the calls of a request bring, by their URL's beginning.
  std::string Authorization(const std::string& url) const {
    for (const auto& request : servers.requests()) {
      if (request.url.starts_with(url)) {
        return std::string(request.headers.Get("Authorization"));
      }
    }
    return "not called";
  }

  LooksOnDemand executor;
  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  FakeWebhookServers servers;
  std::unique_ptr<metrics::Registry> registry = metrics::NewRegistry();
  admission::WebhookAdmissionOptions options;
  std::optional<admission::Chain> chain;
};

client::WebhookClientConfig At(const std::string& url) { return {.url = url}; }

}  // namespace

TEST_CASE("webhook: each is called by the user that the kubeconfig has for it", "[admission]") {
  CalledAs called(
      "users:\n- {name: a.test, user: {token: of-a}}\n"
      "- {name: 'b.test:8443', user: {username: jane, password: secret}}\n"
      "- {name: '*.hooks.svc', user: {tokenFile: token}}\n");
  called.Start({At("https://a.test/noop"),
                At("https://b.test:8443/noop"),
                At("https://b.test/noop"),
                {.service = client::WebhookService{
                     .namespace_ = "hooks", .name = "judge", .path = "/noop"}}});
  CHECK(called.Run().ok());
  CHECK(called.servers.requests().size() == 4);
  CHECK(called.Authorization("https://a.test/") == "Bearer of-a");
  // jane:secret
  CHECK(called.Authorization("https://b.test:8443/") == "Basic amFuZTpzZWNyZXQ=");
  CHECK(called.Authorization("https://b.test/").empty());
  CHECK(called.Authorization("https://judge.hooks.svc:443/") == "Bearer token1");
}

TEST_CASE("webhook: a user's certificate is shown where the webhook is, and followed",
          "[admission]") {
  CalledAs called(
      "users:\n- {name: '*', user: {client-certificate: certificate1, client-key: key1}}\n");
  called.Start(
      {{.service = client::WebhookService{.namespace_ = "hooks", .name = "judge", .path = "/noop"},
        .ca_bundle = "the webhook's"}});
  CHECK(called.Run().ok());
  CHECK(called.Run().ok());
  REQUIRE(called.servers.clients().size() == 1);
  const client::HttpClientOptions first = called.servers.clients()[0];
  CHECK(first.tls.client.certificate_pem == "certificate1");
  CHECK(first.tls.client.key_pem == "key1");
  CHECK(first.tls.ca_pem == "the webhook's");
  CHECK(first.tls.server_name == "judge.hooks.svc");
  CHECK(first.address == "judge.hooks.svc:443");
  CHECK(first.response_bytes_max == 3 << 20);

  called.Write("certificate1", "certificate2");
  called.executor.Look();
  REQUIRE(called.servers.clients().size() == 2);
  const client::HttpClientOptions second = called.servers.clients()[1];
  CHECK(second.tls.client.certificate_pem == "certificate2");
  CHECK(second.tls.ca_pem == "the webhook's");
  CHECK(second.address == "judge.hooks.svc:443");
  CHECK(second.response_bytes_max == 3 << 20);
}

TEST_CASE("webhook: one whose credentials cannot be read is not called as nobody", "[admission]") {
  CalledAs called("users:\n- {name: '*', user: {tokenFile: missing}}\n");
  called.Start({At("https://a.test/noop")});
  const Status status = called.Run();
  CHECK(status.code() == 500);
  CHECK(std::string(status.message()).find("/missing") != std::string::npos);
  CHECK(called.servers.requests().empty());
}

TEST_CASE("webhook: credentials do not travel in clear", "[admission]") {
  CalledAs called("users:\n- {name: '*', user: {token: secret}}\n");
  called.Start({At("http://a.test/noop")});
  CHECK(std::string(called.Run().message())
            .find("credentials are only for webhooks over https, not for http://a.test") !=
        std::string::npos);
  CHECK(called.servers.requests().empty());
}
