#include "apiserver/audit/options.h"

#include <catch2/catch.hpp>

#include "audit/fakes.h"
#include "client/fake_http_client.h"

namespace apiserver::inline v0::audit {
namespace {

constexpr char kPolicy[] = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n";
constexpr char kKubeconfig[] =
    "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
    "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
    "clusters: [{name: k, cluster: {server: 'https://hook.example.com/audit'}}]\n"
    "users: [{name: u, user: {token: t0ken}}]\n";

// What was logged.
class Remembered final : public LogSink {
 public:
  bool Enabled(LogLevel level) const override { return level >= LogLevel::kWarning; }
  void Write(LogLevel, std::string_view message, std::span<const LogField> fields) override {
    lines += message;
    for (const LogField& field : fields) lines += " " + std::string(field.key) + "=" + field.value;
  }
  std::string lines;
};

// Files and a client, and options that use them.
struct World {
  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  std::shared_ptr<apiserver::testing::FakeHttpClient> client =
      std::make_shared<apiserver::testing::FakeHttpClient>();
  Options options;

  World() {
    REQUIRE(files->WriteAtomically("policy.yaml", kPolicy, 0600).ok());
    REQUIRE(files->WriteAtomically("hook.kubeconfig", kKubeconfig, 0600).ok());
    options.policy_file = "policy.yaml";
    options.files = files.get();
    options.new_client = [client = client](const client::HttpClientOptions&) {
      return std::shared_ptr<client::HttpClient>(client);
    };
  }
};

std::string ProblemWith(const std::function<void(Options&)>& change) {
  World world;
  change(world.options);
  return ProblemOf(world.options);
}

}  // namespace

// TestAuditInvalidOptions
TEST_CASE("audit: a flag that is wrong is named, with what would be right", "[audit]") {
  CHECK(ProblemWith([](Options&) {}).empty());
  CHECK(ProblemWith([](Options& o) {
          o.policy_file = "";
          o.log_path = "audit.log";
        }) ==
        "--audit-log-path records nothing without --audit-policy-file; give a policy, or leave it "
        "out");
  CHECK(ProblemWith([](Options& o) { o.log_path = "-"; }) ==
        "--audit-log-path=- is not supported here; name a file");
  CHECK(ProblemWith([](Options& o) {
          o.log_path = "audit.log";
          o.log_format = "foo";
        }) == "--audit-log-format=foo is unknown; use json or legacy");
  CHECK(ProblemWith([](Options& o) {
          o.log_path = "audit.log";
          o.log.mode = "foo";
        }) == "--audit-log-mode=foo is unknown; use batch, blocking or blocking-strict");
  CHECK(ProblemWith([](Options& o) {
          o.log_path = "audit.log";
          o.log.version = "audit.k8s.io/v1beta1";
        }) == "--audit-log-version=audit.k8s.io/v1beta1 is unknown; use audit.k8s.io/v1");
  CHECK(ProblemWith([](Options& o) {
          o.log_path = "audit.log";
          o.log_maxage = -1;
        }) == "--audit-log-maxage can't be a negative number");
  CHECK(ProblemWith([](Options& o) {
          o.webhook_config_file = "hook.kubeconfig";
          o.webhook.batch.buffer_size = 0;
        }) == "--audit-webhook-batch-buffer-size must be a positive number");
  CHECK(ProblemWith([](Options& o) {
          o.webhook_config_file = "hook.kubeconfig";
          o.webhook.mode = "blocking";
          o.webhook.batch.buffer_size = 0;  // Not used, so not looked at.
        }).empty());
  CHECK(ProblemWith([](Options& o) {
          o.webhook_config_file = "hook.kubeconfig";
          o.webhook.batch.throttle_qps = 0;
        }) == "--audit-webhook-batch-throttle-qps must be a positive number");
  CHECK(ProblemWith([](Options& o) {
          o.webhook_config_file = "hook.kubeconfig";
          o.webhook.truncation = {.max_event_size = 10, .max_batch_size = 5};
        }) ==
        "--audit-webhook-truncate-max-batch-size must not be less than "
        "--audit-webhook-truncate-max-event-size");
}

// TestAuditValidOptions
TEST_CASE("audit: the flags decide which backends stand around which", "[audit]") {
  struct Case {
    std::function<void(Options&)> change;
    std::string backend;
  };
  const std::vector<Case> cases = {
      {[](Options& o) { o.log_path = "/audit.log"; }, "ignoreErrors<log>"},
      {[](Options& o) {
         o.log_path = "/audit.log";
         o.log.mode = "blocking-strict";
       },
       "log"},
      {[](Options& o) {
         o.log_path = "/audit.log";
         o.log.mode = "batch";
         o.log.truncate = true;
       },
       "truncate<buffered<log>>"},
      {[](Options& o) { o.webhook_config_file = "hook.kubeconfig"; }, "buffered<webhook>"},
      {[](Options& o) {
         o.log_path = "/audit.log";
         o.webhook_config_file = "hook.kubeconfig";
         o.webhook.mode = "blocking";
       },
       "union[ignoreErrors<log>,ignoreErrors<webhook>]"}};
  for (const Case& each : cases) {
    World world;
    each.change(world.options);
    const auto made = NewAudit(world.options);
    INFO(made.status().ToString());
    REQUIRE(made.ok());
    CHECK(made->backend->name() == each.backend);
    CHECK(made->policy->EvaluatePolicyRule({.user = nullptr, .verb = "get"}).level ==
          Level::kMetadata);
  }
  World none;
  none.options.policy_file = "";
  const auto made = NewAudit(none.options);
  REQUIRE(made.ok());
  CHECK(made->policy == nullptr);
  CHECK(made->backend == nullptr);
}

TEST_CASE("audit: files that cannot be used stop the start with their names", "[audit]") {
  World world;
  world.options.log_path = "/policy/audit.log";
  REQUIRE(world.files->WriteAtomically("/policy", "", 0600).ok());
  CHECK(NewAudit(world.options).status().message() ==
        "--audit-log-path: mkdir /policy: File exists; name a file in a directory that this "
        "server may write to");
  world.options.log_path = "";
  world.options.webhook_config_file = "missing";
  const std::string error(NewAudit(world.options).status().message());
  CHECK(error.starts_with("--audit-webhook-config-file: "));
  CHECK(error.find("missing") != std::string::npos);
  world.options.policy_file = "no-policy";
  CHECK(NewAudit(world.options).status().message() ==
        "--audit-policy-file: audit policy: open no-policy: No such file or directory");
}

// plugin/pkg/audit/webhook TestWebhook
TEST_CASE("audit: the webhook is sent a list of events, and again if that fails", "[audit]") {
  World world;
  world.options.webhook_config_file = "hook.kubeconfig";
  world.options.webhook.mode = "blocking-strict";
  world.options.webhook_initial_backoff = std::chrono::milliseconds(1);
  const auto made = NewAudit(world.options);
  REQUIRE(made.ok());
  Counted counted;
  REQUIRE(made->backend->Run(counted.environment()).ok());
  CHECK(made->backend->Holds());
  bool processed = false;
  made->backend->ProcessEvents({EventNamed("1")}, [&](bool value) { processed = value; });
  REQUIRE(world.client->requests.size() == 1);
  const client::HttpRequest& request = world.client->requests[0];
  CHECK(request.method == "POST");
  CHECK(request.url == "https://hook.example.com/audit");
  CHECK(request.headers.Get("Authorization") == "Bearer t0ken");
  CHECK(request.body ==
        R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[)"
        R"({"level":"Request","auditID":"1","stage":"RequestReceived","requestURI":"","verb":"",)"
        R"("user":{},"requestReceivedTimestamp":null,"stageTimestamp":null}]})");
  world.client->End(http::ClientResponse{.code = 200});
  CHECK(processed);
  CHECK_FALSE(counted.Shows("apiserver_audit_error_total{plugin=\"webhook\"} 1"));
}

// webhook.LoadKubeconfig looks at no scheme.
TEST_CASE("audit: a webhook may be called without TLS, which is warned of", "[audit]") {
  World world;
  Remembered log;
  world.options.log_sink = &log;
  world.options.webhook_config_file = "hook.kubeconfig";
  world.options.webhook.mode = "blocking-strict";
  REQUIRE(NewAudit(world.options).ok());
  CHECK(log.lines.empty());
  std::string http(kKubeconfig);
  http.replace(http.find("https://"), 5, "http");
  REQUIRE(world.files->WriteAtomically("hook.kubeconfig", http, 0600).ok());

  const auto made = NewAudit(world.options);

  REQUIRE(made.status() == Status());
  CHECK(log.lines ==
        "a webhook is called without TLS: what it is sent, credentials too, can be read, and its "
        "answers made up, by whoever stands between config=--audit-webhook-config-file "
        "server=http://hook.example.com/audit");
  Counted counted;
  REQUIRE(made->backend->Run(counted.environment()).ok());
  made->backend->ProcessEvents({EventNamed("1")}, nullptr);
  REQUIRE(world.client->requests.size() == 1);
  CHECK(world.client->requests[0].url == "http://hook.example.com/audit");
  world.client->End(http::ClientResponse{.code = 200});
}

TEST_CASE("audit: events the webhook does not take are counted when it is given up", "[audit]") {
  World world;
  world.options.webhook_config_file = "hook.kubeconfig";
  world.options.webhook.mode = "blocking-strict";
  const auto made = NewAudit(world.options);
  REQUIRE(made.ok());
  Counted counted;
  REQUIRE(made->backend->Run(counted.environment()).ok());
  Notification done;
  made->backend->ProcessEvents({EventNamed("1"), EventNamed("2")}, [&](bool value) {
    CHECK_FALSE(value);
    done.Notify();
  });
  // 403 is no reason for others to try again; here it is.
  world.client->End(http::ClientResponse{.code = 403});
  made->backend->Shutdown(std::chrono::milliseconds(0));
  CHECK(done.WaitFor(kSoon));
  CHECK(counted.Shows("apiserver_audit_error_total{plugin=\"webhook\"} 2"));
  made->backend->ProcessEvents({EventNamed("3")}, nullptr);
  CHECK(world.client->requests.size() == 1);
  CHECK(counted.Shows("apiserver_audit_error_total{plugin=\"webhook\"} 3"));
}

}  // namespace apiserver::inline v0::audit
