// A whole server with webhooks behind real TLS: configurations are objects of the server itself.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/webhook.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/pooled_client.h"
#include "apiserver/codec/json.h"
#include "apiserver/groups/admissionregistration.h"
#include "apiserver/http/listener.h"
#include "apiserver/http/tls.h"
#include "apiserver/storage/memory/engine.h"
#include "text/base64.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: tests only.
using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::Widget;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Handlers are given whole bodies.
class WholeBody final : public http::Filter {
 public:
  std::string_view name() const override { return "body"; }
  http::Step Begin(http::Exchange& exchange) const override {
    return exchange.has_body() ? exchange.CollectBody(1 << 20) : http::Step::Next();
  }
};

// Webhooks at paths of https://127.0.0.1.
class HookServer {
 public:
  HookServer() : pool_(NewThreadPool({.name = "hooks", .threads = 300})) {
    authority_ = http::NewCertificateAuthority("hooks", RealClock()).value();
    const auto pair = http::NewCertificate(
        authority_, {.common_name = "hook-server", .ip_addresses = {"127.0.0.1"}}, RealClock());
    service_.pool = pool_.get();
    service_.filters.push_back(std::make_unique<WholeBody>());
    service_.handler = [this](http::Exchange& exchange) -> http::Step {
      const std::string path = exchange.request().path;
      const std::string body = exchange.body() ? *exchange.body() : "";
      return http::Step::OnPool([this, &exchange, path, body]() -> http::Step {
        const auto handler = handlers_.find(path);
        const std::string answer =
            handler == handlers_.end() ? "nothing at " + path : handler->second(body);
        exchange.writer().Send({.headers = {{"Content-Type", "application/json"}}}, answer);
        return http::Step::Done();
      });
    };
    listener_ = http::Listen({.tls = http::NewServerTls(pair.value()).value()}, service_).value();
  }
  ~HookServer() {
    held.Notify();
    listener_->Stop(milliseconds(0));
  }

  using Handler = std::function<std::string(const std::string& body)>;
  void Handle(const std::string& path, Handler handler) { handlers_[path] = std::move(handler); }
  // Answers with this response, whose uid is that of the request.
  void Answer(const std::string& path, const std::string& response) {
    Handle(path, [response](const std::string& body) { return Review(body, response); });
  }
  static std::string Review(const std::string& body, const std::string& response) {
    runtime::Arena arena;
    const auto parsed = codec::ParseJson(body, arena);
    if (!parsed.ok()) return "told no review but " + body;
    const runtime::Value review = *parsed;
    return R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":")" +
           std::string(review["request"]["uid"].AsString()) + "\"," + response + "}}";
  }

  // A configuration of one webhook at `path`.
  std::string Configuration(const std::string& kind, const std::string& path,
                            const std::string& more = "") const {
    std::string bundle;
    text::AppendBase64(authority_.certificate_pem, bundle);
    return R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":")" + kind +
           R"(","metadata":{"name":"hooks"},"webhooks":[{"name":"x.hooks.test","sideEffects":)"
           R"("None","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:)" +
           std::to_string(listener_->port()) + path + R"(","caBundle":")" + bundle +
           R"("},"rules":[{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["*"],)"
           R"("resources":["widgets"]}])" +
           more + "}]}";
  }

  Notification held;  // What a handler may wait for.

 private:
  http::KeyPair authority_;
  std::map<std::string, Handler> handlers_;
  std::unique_ptr<ThreadPool> pool_;
  http::Service service_;
  std::unique_ptr<http::Listener> listener_;
};

constexpr char kValidating[] =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
constexpr char kMutating[] = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

struct Served {
  Served() {
    namespace adm = admission;
    const auto mutating = std::make_shared<adm::InformedWebhooks>(adm::WebhookType::kMutating);
    const auto validating = std::make_shared<adm::InformedWebhooks>(adm::WebhookType::kValidating);
    const auto factory = client::NewHttpClientFactory();
    testing::TestServerOptions options;
    options.engine = engine.get();
    options.admission = {
        adm::NewMutatingWebhookAdmission({.webhooks = mutating, .new_client = factory}),
        adm::NewValidatingWebhookAdmission({.webhooks = validating, .new_client = factory})};
    // Far fewer threads than writes that wait.
    options.configure = [](server::Config& config) { config.pool_threads = 2; };
    options.install = [=, this](server::GenericAPIServer& api) {
      return groups::admissionregistration::Install(
          api, {.storage = {.engine = engine.get(), .executor = &api.pool()},
                .mutating = mutating,
                .validating = validating});
    };
    server = testing::StartWidgetServer(std::move(options));
  }
  http::ClientResponse Create(const std::string& name) const {
    return server->Call("POST", kWidgets, Widget(name, 1));
  }
  // Configurations are known within milliseconds, not at once.
  http::ClientResponse CreateUntil(const std::string& name, const std::string& words) const {
    http::ClientResponse answer;
    const auto deadline = RealClock().Now() + seconds(60);
    do {
      answer = server->Call("POST", std::string(kWidgets) + "?dryRun=All", Widget(name, 1));
    } while (!Contains(answer.body, words) && RealClock().Now() < deadline);
    return answer;
  }

  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<testing::TestServer> server;
};

}  // namespace

TEST_CASE("webhooks: a configuration that is created takes effect, and its end too", "[groups]") {
  HookServer hooks;
  hooks.Answer("/deny", R"("allowed":false,"status":{"code":403,"message":"not today"})");
  const Served served;
  const auto created = served.server->Call(
      "POST", kValidating, hooks.Configuration("ValidatingWebhookConfiguration", "/deny"));
  CHECK(created.code == 201);
  CHECK(Contains(created.body, R"("generation":1)"));
  const std::string words = R"(admission webhook \"x.hooks.test\" denied the request: not today)";
  const auto denied = served.CreateUntil("a", words);
  INFO(denied.body);
  CHECK(denied.code == 403);
  CHECK(served.Create("a").code == 403);
  // Nobody asks a webhook whether it may go.
  CHECK(served.server->Call("DELETE", std::string(kValidating) + "/hooks").code == 200);
  CHECK(served.CreateUntil("a", R"("size":1)").code == 201);
}

TEST_CASE("webhooks: a mutating webhook changes what is stored", "[groups]") {
  HookServer hooks;
  std::string patch;
  text::AppendBase64(R"([{"op":"add","path":"/spec/color","value":"blue"}])", patch);
  hooks.Answer("/paint", R"("allowed":true,"patchType":"JSONPatch","patch":")" + patch + "\"");
  const Served served;
  CHECK(served.server
            ->Call("POST", kMutating, hooks.Configuration("MutatingWebhookConfiguration", "/paint"))
            .code == 201);
  CHECK(Contains(served.CreateUntil("a", R"("color":"blue")").body, R"("color":"blue")"));
  const auto made = served.Create("a");
  INFO(made.body);
  CHECK(made.code == 201);
  CHECK(
      Contains(served.server->Call("GET", std::string(kWidgets) + "/a").body, R"("color":"blue")"));
}

TEST_CASE("webhooks: who is asked for another authority's certificate is not believed",
          "[groups]") {
  HookServer hooks;
  hooks.Answer("/allow", R"("allowed":true)");
  const HookServer others;
  const Served served;
  std::string configuration = hooks.Configuration("ValidatingWebhookConfiguration", "/allow");
  const std::string mark = R"("caBundle":")";
  const auto bundle = [&](const std::string& text) {
    const std::size_t at = text.find(mark) + mark.size();
    return text.substr(at, text.find('"', at) - at);
  };
  const std::string own = bundle(configuration);
  configuration.replace(configuration.find(own), own.size(),
                        bundle(others.Configuration("ValidatingWebhookConfiguration", "/allow")));
  CHECK(served.server->Call("POST", kValidating, configuration).code == 201);
  const auto refused = served.CreateUntil("a", "failed calling webhook");
  CHECK(refused.code == 500);
  CHECK(Contains(refused.body,
                 R"(failed calling webhook \"x.hooks.test\": failed to call webhook: )"));
}

// Row 70 of docs/security.md.
TEST_CASE("webhooks: a URL that hides where it leads is refused when it is written", "[groups]") {
  const HookServer hooks;
  const Served served;
  const std::string good = hooks.Configuration("ValidatingWebhookConfiguration", "/allow");
  const std::size_t begin = good.find("https://");
  const std::string url = good.substr(begin, good.find('"', begin) - begin);
  for (const char* odd :
       {"http://127.0.0.1/", "ftp://127.0.0.1/", "https://user@127.0.0.1/",
        "https://good.example.com:443@127.0.0.1/", "https://127.0.0.1/#x", "https://127.0.0.1/?x=y",
        "https:///latest/meta-data", "//127.0.0.1/", "127.0.0.1:443/", "file:///etc/passwd",
        "https://[::1/", "https://127.0.0.1:port/", ""}) {
    INFO(odd);
    std::string configuration = good;
    configuration.replace(begin, url.size(), odd);
    const auto answer = served.server->Call("POST", kValidating, configuration);
    CHECK(answer.code == 422);
    CHECK(Contains(answer.body, "webhooks[0].clientConfig.url"));
  }
}

// Each write waits at most 30 s for its webhook, so there are no more of them than even a machine
// that does much else brings there in time.
TEST_CASE("webhooks: forty writes that wait for one do not keep others waiting", "[groups][slow]") {
  constexpr int kWrites = 40;
  HookServer hooks;
  std::atomic<int> waiting{0};
  hooks.Handle("/slow", [&](const std::string& body) {
    ++waiting;
    hooks.held.Wait();
    return HookServer::Review(body, R"("allowed":true)");
  });
  const Served served;
  CHECK(served.server
            ->Call("POST", kValidating,
                   hooks.Configuration("ValidatingWebhookConfiguration", "/slow",
                                       R"(,"timeoutSeconds":30)"))
            .code == 201);
  const auto pool = NewThreadPool({.name = "clients", .threads = 2 * kWrites});
  std::atomic<int> answered{0};
  apiserver::Guarded<std::vector<std::string>> refused;
  // Writes may pass before the configuration is known; the others come when one has been held.
  for (int i = 0; i < kWrites && waiting == 0; ++i) {
    pool->Post([&, i] { (void)served.Create("first-" + std::to_string(i)); });
    for (int wait = 0; wait < 200 && waiting == 0; ++wait) {
      const Notification never;
      (void)never.WaitFor(milliseconds(5));
    }
  }
  REQUIRE(waiting > 0);
  const int held_first = waiting;
  for (int i = 0; i < kWrites; ++i) {
    pool->Post([&, i] {
      const auto answer = served.Create("w" + std::to_string(i));
      if (answer.code != 201) refused.Lock()->push_back(answer.body);
      ++answered;
    });
  }
  const auto until = [](const std::function<bool()>& holds) {
    const auto deadline = RealClock().Now() + seconds(60);
    const Notification never;
    while (!holds() && RealClock().Now() < deadline) (void)never.WaitFor(milliseconds(5));
    return holds();
  };
  CHECK(until([&] { return waiting - held_first + answered >= kWrites; }));
  const int before = answered;
  for (int i = 0; i < 20; ++i) CHECK(served.server->Call("GET", kValidating).code == 200);
  CHECK(served.server
            ->Call("PATCH", std::string(kValidating) + "/hooks",
                   R"({"metadata":{"labels":{"a":"b"}}})",
                   {{"Content-Type", "application/merge-patch+json"}})
            .code == 200);
  // They were answered while all the writes still waited.
  CHECK(answered == before);
  hooks.held.Notify();
  CHECK(until([&] { return answered == kWrites; }));
  CHECK(*refused.Lock() == std::vector<std::string>());
  pool->Stop();
}
