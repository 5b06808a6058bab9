// What a server counts of its requests: k8s.io/apiserver/pkg/endpoints/metrics.
#include <catch2/catch.hpp>

#include <algorithm>

#include "apiserver/request/latency.h"
#include "dialled.h"
#include "server/requests/request_metrics.h"
#include "widget_server.h"

using apiserver::Context;
using apiserver::http::Query;
using apiserver::http::Request;
using apiserver::request::RequestInfo;
using apiserver::server::LabelsOf;
using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::Widget;

namespace {

std::string Scrape(apiserver::testing::TestServer& server) {
  return server.Call("GET", "/metrics").body;
}

// The value of the series whose line begins with `series`; -1: there is none.
double ValueOf(const std::string& text, const std::string& series) {
  const std::size_t at = text.find("\n" + series + " ");
  if (at == std::string::npos) return -1;
  return std::stod(text.substr(at + series.size() + 2));
}

std::string Labels(const std::string& verb, const std::string& subresource,
                   const std::string& scope, const std::string& dry_run = "") {
  return "verb=\"" + verb + "\",dry_run=\"" + dry_run +
         "\",group=\"example.com\",version=\"v1\",resource=\"widgets\",subresource=\"" +
         subresource + "\",scope=\"" + scope + "\",component=\"apiserver\"";
}

}  // namespace

// TestCleanVerb
TEST_CASE("server: verbs of metrics are those of upstream, and no others", "[server]") {
  struct Case {
    std::string method;
    std::string query;
    std::string path;
    std::string content_type;
    std::string expected;
  };
  const auto test = GENERATE(values<Case>({
      {"", "", "/api/v1/pods", "", "other"},
      {"GET", "", "/api/v1/pods", "", "LIST"},
      {"GET", "watch=true", "/api/v1/pods", "", "WATCH"},
      {"GET", "blah=asdf&something=else", "/api/v1/pods", "", "LIST"},
      {"GET", "fieldSelector=metadata.name%3Dbaz&watch=true", "/api/v1/namespaces/foo/pods/bar", "",
       "WATCH"},
      {"GET", "watch=false", "/api/v1/pods", "", "LIST"},
      {"GET", "", "/api/v1/watch/pods", "", "WATCH"},
      {"GET", "", "/api/v1/namespaces/foo/pods/bar", "", "GET"},
      {"HEAD", "", "/api/v1/namespaces/foo/pods/bar", "", "GET"},
      {"PATCH", "", "/api/v1/namespaces/foo/pods/bar", "application/apply-patch+yaml", "APPLY"},
      {"PATCH", "", "/api/v1/namespaces/foo/pods/bar", "", "PATCH"},
      {"notValid", "", "/api/v1/pods", "", "other"},
      {"GET", "", "/api/v1/namespaces/default/pods/test-pod/log", "", "CONNECT"},
      {"POST", "command=sh", "/api/v1/namespaces/default/pods/test-pod/exec", "", "CONNECT"},
      {"POST", "", "/api/v1/namespaces/default/pods/test-pod/portforward", "", "CONNECT"},
      {"PUT", "", "/apis/apps/v1/namespaces/default/deployments/test-1/scale", "", "PUT"},
      {"DELETE", "", "/api/v1/namespaces/foo/pods", "", "DELETE"},
      {"POST", "", "/api/v1/namespaces/foo/pods", "", "POST"},
  }));
  INFO(test.method << " " << test.path << "?" << test.query);
  Request request;
  request.method = test.method;
  request.path = test.path;
  if (!test.content_type.empty()) request.headers.Add("Content-Type", test.content_type);
  const Query query = Query::Parse(test.query);
  const RequestInfo info =
      apiserver::request::ResolveRequestInfo(request.method, request.path, query).value();

  CHECK(LabelsOf(request, query, info).verb == test.expected);
}

// TestCleanScope
TEST_CASE("server: scopes of metrics are those of upstream", "[server]") {
  struct Case {
    RequestInfo info;
    std::string expected;
  };
  const auto test = GENERATE(values<Case>({
      {{}, ""},
      {{.namespace_ = "my-namespace", .name = "my-resource"}, "resource"},
      {{.verb = "create", .namespace_ = "my-namespace"}, "resource"},
      {{.namespace_ = "my-namespace"}, "namespace"},
      {{.is_resource_request = true}, "cluster"},
  }));

  CHECK(LabelsOf({}, Query::Parse(""), test.info).scope == test.expected);
}

TEST_CASE("server: a dry run is counted as one, whatever its value says", "[server]") {
  const auto of = [](std::string_view query) {
    return std::string(LabelsOf({}, Query::Parse(query), {}).dry_run);
  };
  CHECK(of("") == "");
  CHECK(of("dryRun=All") == "All");
  CHECK(of("dryRun=All&dryRun=All") == "All");
  CHECK(of("dryRun=x") == "invalid");
  CHECK(of("dryRun=All&dryRun=x") == "invalid");
}

TEST_CASE("server: requests are counted under upstream's names and labels", "[server]") {
  const auto server = StartWidgetServer();
  const std::string one = std::string(kWidgets) + "/a";
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 1)).code == 201);
  REQUIRE(server->Call("POST", std::string(kWidgets) + "?dryRun=All", Widget("b", 1)).code == 201);
  REQUIRE(server->Call("GET", one).code == 200);
  REQUIRE(server->Call("GET", one).code == 200);
  REQUIRE(server->Call("GET", std::string(kWidgets) + "/none").code == 404);
  REQUIRE(server->Call("GET", kWidgets).code == 200);
  REQUIRE(server->Call("GET", "/apis/example.com/v1/widgets").code == 200);
  REQUIRE(server->Call("DELETE", one).code == 200);
  REQUIRE(server->Call("GET", "/readyz").code == 200);

  const std::string text = Scrape(*server);

  const auto total = [&text](const std::string& labels, int code) {
    return ValueOf(text,
                   "apiserver_request_total{" + labels + ",code=\"" + std::to_string(code) + "\"}");
  };
  CHECK(total(Labels("POST", "", "resource"), 201) == 1);
  CHECK(total(Labels("POST", "", "resource", "All"), 201) == 1);
  CHECK(total(Labels("GET", "", "resource"), 200) == 2);
  CHECK(total(Labels("GET", "", "resource"), 404) == 1);
  CHECK(total(Labels("LIST", "", "namespace"), 200) == 1);
  CHECK(total(Labels("LIST", "", "cluster"), 200) == 1);
  CHECK(total(Labels("DELETE", "", "resource"), 200) == 1);
  CHECK(ValueOf(text, "apiserver_request_duration_seconds_count{" + Labels("GET", "", "resource") +
                          "}") == 3);
  CHECK(ValueOf(text, "apiserver_request_duration_seconds_bucket{" + Labels("GET", "", "resource") +
                          ",le=\"+Inf\"}") == 3);
  const std::string sli =
      "verb=\"GET\",group=\"example.com\",version=\"v1\",resource=\"widgets\",subresource=\"\","
      "scope=\"resource\",component=\"apiserver\"";
  CHECK(ValueOf(text, "apiserver_request_sli_duration_seconds_count{" + sli + "}") == 3);
  CHECK(ValueOf(text, "apiserver_response_sizes_count{" + sli + "}") == 3);
  // TestMetrics of healthz_test.go
  CHECK(ValueOf(text,
                "apiserver_request_total{verb=\"GET\",dry_run=\"\",group=\"\",version=\"\","
                "resource=\"\",subresource=\"/readyz\",scope=\"\",component=\"\",code="
                "\"200\"}") == 1);
  CHECK(ValueOf(text,
                "apiserver_request_body_size_bytes_count{group=\"example.com\",resource="
                "\"widgets\",verb=\"create\"}") == 2);
  CHECK(ValueOf(text,
                "apiserver_selfrequest_total{verb=\"GET\",group=\"example.com\",resource="
                "\"widgets\",subresource=\"\"}") == 3);
  CHECK(ValueOf(text,
                "apiserver_request_filter_duration_seconds_count{filter="
                "\"authorization\"}") >= 9);
}

TEST_CASE("server: a filter that measures itself takes as long as it is measured to", "[server]") {
  const auto server = StartWidgetServer();
  for (int i = 0; i < 10; ++i) REQUIRE(server->Call("GET", kWidgets).code == 200);

  const std::string text = Scrape(*server);

  // Equal to the last digit, since they share their readings of the clock.
  CHECK(ValueOf(text, "authentication_duration_seconds_sum{result=\"success\"}") ==
        ValueOf(text, "apiserver_request_filter_duration_seconds_sum{filter=\"authentication\"}"));
}

TEST_CASE("server: what webhooks and queues take is not the server's", "[server]") {
  const std::shared_ptr<apiserver::metrics::Registry> registry = apiserver::metrics::NewRegistry();
  apiserver::server::RequestMetrics metrics(*registry);
  const apiserver::server::RequestLabels labels{.verb = "POST", .component = "apiserver"};
  metrics.Monitor(labels, {.code = 201,
                           .took = std::chrono::milliseconds(2500),
                           .not_ours = std::chrono::milliseconds(2000)});
  // Of a watch it is not asked.
  metrics.Monitor(labels, {.code = 200, .took = std::chrono::hours(1)});

  const std::string text = registry->Serialize();
  const std::string of = "{verb=\"POST\",";
  const std::string rest =
      "group=\"\",version=\"\",resource=\"\",subresource=\"\",scope=\"\",component="
      "\"apiserver\"}";
  CHECK(ValueOf(text, "apiserver_request_sli_duration_seconds_sum" + of + rest) == 0.5);
  CHECK(ValueOf(text, "apiserver_request_sli_duration_seconds_count" + of + rest) == 1);
  CHECK(ValueOf(text, "apiserver_request_duration_seconds_sum" + of + "dry_run=\"\"," + rest) ==
        3602.5);
}

TEST_CASE("server: requests are counted under their labels, however long those are", "[server]") {
  const std::shared_ptr<apiserver::metrics::Registry> registry = apiserver::metrics::NewRegistry();
  apiserver::server::RequestMetrics metrics(*registry);
  const std::string longest(300, 'x');
  const std::string other = longest + "y";
  const auto count = [&](std::string_view group, std::string_view version, int times) {
    for (int i = 0; i < times; ++i) {
      metrics.Monitor({.verb = "GET", .group = group, .version = version}, {.code = 200});
    }
  };

  count("a", "bc", 1);
  count("ab", "c", 2);
  count(longest, "v1", 3);
  count(other, "v1", 4);

  const std::string text = registry->Serialize();
  const auto counted = [&](std::string_view group, std::string_view version) {
    return ValueOf(text, R"(apiserver_request_total{verb="GET",dry_run="",group=")" +
                             std::string(group) + R"(",version=")" + std::string(version) +
                             R"(",resource="",subresource="",scope="",component="",code="200"})");
  };
  CHECK(counted("a", "bc") == 1);
  CHECK(counted("ab", "c") == 2);
  CHECK(counted(longest, "v1") == 3);
  CHECK(counted(other, "v1") == 4);
}

TEST_CASE("server: a request's layers are kept out of its SLI, and watches have none", "[server]") {
  const auto server = StartWidgetServer({.configure = [](apiserver::server::Config& config) {
    class Slow final : public apiserver::admission::Plugin {
     public:
      std::string_view name() const override { return "Slow"; }
      bool Handles(apiserver::admission::Operation) const override { return true; }
      apiserver::Status Admit(const Context& ctx,
                              apiserver::admission::Attributes&) const override {
        namespace request = apiserver::request;
        TrackLatency(ctx, request::Layer::kMutatingWebhook, std::chrono::seconds(1000));
        TrackLatency(ctx, request::Layer::kStorage, std::chrono::seconds(20'000));
        return {};
      }
    };
    config.admission.push_back(std::make_shared<Slow>());
  }});
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 1)).code == 201);
  const auto connection = server->server().LoopbackConnection();
  auto watch =
      connection->Open({.target = std::string(kWidgets) + "?watch=1&timeoutSeconds=1"}).value();
  while (!watch->Read(Context::Background()).value().empty()) {
  }

  const auto sli = [](const std::string& what, const std::string& verb, const std::string& scope) {
    return "apiserver_request_sli_duration_seconds_" + what + "{verb=\"" + verb +
           "\",group=\"example.com\",version=\"v1\",resource=\"widgets\",subresource=\"\","
           "scope=\"" +
           scope + "\",component=\"apiserver\"}";
  };
  const std::string text = Scrape(*server);
  // As much less as the webhook said it took; the request itself took next to nothing.
  const double sum = ValueOf(text, sli("sum", "POST", "resource"));
  CHECK(sum < -980);
  CHECK(sum >= -1000);
  CHECK(ValueOf(text, sli("count", "WATCH", "namespace")) == 0);
  CHECK(ValueOf(text, "apiserver_request_duration_seconds_count{" +
                          Labels("WATCH", "", "namespace") + "}") == 1);
}

TEST_CASE("server: the buckets of durations are upstream's", "[server]") {
  const auto server = StartWidgetServer();
  REQUIRE(server->Call("GET", kWidgets).code == 200);
  const std::string text = Scrape(*server);
  const auto buckets = [&text](const std::string& name) {
    std::vector<std::string> found;
    const std::string line = "\n" + name + "_bucket{verb=\"LIST\"";
    for (std::size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + 1)) {
      const std::size_t le = text.find("le=\"", at) + 4;
      found.push_back(text.substr(le, text.find('"', le) - le));
    }
    return found;
  };

  CHECK(buckets("apiserver_request_duration_seconds") ==
        std::vector<std::string>{"0.005", "0.025", "0.05", "0.1", "0.2", "0.4", "0.6", "0.8",
                                 "1",     "1.25",  "1.5",  "2",   "3",   "4",   "5",   "6",
                                 "8",     "10",    "15",   "20",  "30",  "45",  "60",  "+Inf"});
  CHECK(buckets("apiserver_request_sli_duration_seconds") ==
        std::vector<std::string>{"0.05", "0.1", "0.2", "0.4", "0.6", "0.8", "1", "1.25",
                                 "1.5",  "2",   "3",   "4",   "5",   "6",   "8", "10",
                                 "15",   "20",  "30",  "45",  "60",  "+Inf"});
  CHECK(buckets("apiserver_response_sizes") == std::vector<std::string>{"1000", "10000", "100000",
                                                                        "1e+06", "1e+07", "1e+08",
                                                                        "1e+09", "+Inf"});
}

// CVE-2020-8552
TEST_CASE("server: no client can make series", "[server]") {
  const auto server = StartWidgetServer();
  REQUIRE(server->Call("GET", kWidgets).code == 200);
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 1)).code == 201);
  for (const char* method : {"GET", "M0"}) {
    (void)server->Call(method, std::string(kWidgets) + "/a");
  }
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto before = lines(Scrape(*server));

  for (int i = 0; i < 2'000; ++i) {
    const std::string n = std::to_string(i);
    const apiserver::http::Headers headers = {{"User-Agent", "agent-" + n}};
    (void)server->Call("M" + n, std::string(kWidgets) + "/a", "", headers);
    (void)server->Call("GET", "/apis/example.com/v1/namespaces/default/r" + n, "", headers);
    (void)server->Call("GET", "/apis/g" + n + ".com/v1/widgets", "", headers);
    (void)server->Call("GET", std::string(kWidgets) + "/a/sub" + n, "", headers);
    (void)server->Call("GET", "/nowhere/" + n, "", headers);
    (void)server->Call("GET", "/healthz/" + n, "", headers);
    (void)server->Call("GET", std::string(kWidgets) + "/a?dryRun=" + n, "", headers);
  }

  // Twice more: an invalid dry run of a GET, in two families of histograms and a counter.
  CHECK(lines(Scrape(*server)) - before < 60);
}

TEST_CASE("server: open watches are shown, and counted when they end", "[server]") {
  const auto server = StartWidgetServer();
  const std::string series =
      "apiserver_longrunning_requests{verb=\"WATCH\",group=\"example.com\",version=\"v1\","
      "resource=\"widgets\",subresource=\"\",scope=\"namespace\",component=\"apiserver\"}";
  const auto connection = server->server().LoopbackConnection();
  auto watch = connection->Open({.target = std::string(kWidgets) + "?watch=1"}).value();
  REQUIRE(watch->Head(Context::Background())->code == 200);

  CHECK(ValueOf(Scrape(*server), series) == 1);
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 1)).code == 201);
  const auto event = watch->Read(Context::Background());
  REQUIRE(event.ok());
  const std::string of_widgets = "{group=\"example.com\",version=\"v1\",resource=\"widgets\"}";
  const std::string counted = Scrape(*server);
  CHECK(ValueOf(counted, "apiserver_watch_events_total" + of_widgets) == 1);
  CHECK(ValueOf(counted, "apiserver_watch_events_sizes_sum" + of_widgets) ==
        static_cast<double>(event->size()));
  watch.reset();

  const auto until = apiserver::RealClock().Now() + std::chrono::seconds(60);
  while (ValueOf(Scrape(*server), series) != 0 && apiserver::RealClock().Now() < until) {
  }
  CHECK(ValueOf(Scrape(*server), series) == 0);
  CHECK(ValueOf(Scrape(*server), "apiserver_request_total{" + Labels("WATCH", "", "namespace") +
                                     ",code=\"200\"}") == 1);
}

TEST_CASE("server: the process shows what it uses", "[server]") {
  const auto server = StartWidgetServer();
  std::string text = Scrape(*server);
  // Linux counts hundredths of a second, and a young process has none.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (ValueOf(text, "process_cpu_seconds_total") == 0 &&
         std::chrono::steady_clock::now() < give_up) {
    text = Scrape(*server);
  }

  CHECK(ValueOf(text, "process_cpu_seconds_total") > 0);
  CHECK(ValueOf(text, "process_resident_memory_bytes") > 1 << 20);
  CHECK(ValueOf(text, "process_virtual_memory_bytes") >
        ValueOf(text, "process_resident_memory_bytes"));
  CHECK(ValueOf(text, "process_open_fds") >= 3);
  CHECK(ValueOf(text, "process_max_fds") >= ValueOf(text, "process_open_fds"));
  CHECK(ValueOf(text, "process_threads") >= 1);
  // A test takes less than an hour, and has not started in the future.
  const std::chrono::duration<double> now = apiserver::RealClock().WallNow().time_since_epoch();
  CHECK(ValueOf(text, "process_start_time_seconds") > now.count() - 3600);
  CHECK(ValueOf(text, "process_start_time_seconds") <= now.count() + 2);
}

TEST_CASE("server: a standalone server shows how long its clients' certificates last", "[server]") {
  const auto server = StartWidgetServer({.listen = true});
  const std::string count = "apiserver_client_certificate_expiration_seconds_count";
  REQUIRE(ValueOf(Scrape(*server), count) == 0);

  apiserver::testing::Dialled dialled(*server);
  REQUIRE(dialled.connection().Call(Context::Background(), {.target = kWidgets})->code == 200);

  const std::string text = Scrape(*server);
  CHECK(ValueOf(text, count) == 1);
  // Ten years.
  CHECK(ValueOf(text,
                "apiserver_client_certificate_expiration_seconds_bucket{le=\"3.1104e+07\"}") == 0);
  CHECK(ValueOf(text, "apiserver_client_certificate_expiration_seconds_sum") > 315'000'000);
}

TEST_CASE("server: which features are on is a metric", "[server]") {
  const auto server = StartWidgetServer({.configure = [](apiserver::server::Config& config) {
    REQUIRE(config.features.Add({{"Old", true, apiserver::FeatureGate::Stage::kGa, false}}).ok());
    REQUIRE(config.features.Set("CBORServingAndStorage=true,APIResponseCompression=false").ok());
  }});

  const std::string text = Scrape(*server);
  const auto enabled = [&text](const std::string& name, const std::string& stage) {
    std::string series = "kubernetes_feature_enabled{name=\"" + name;
    return ValueOf(text, series.append("\",stage=\"").append(stage).append("\"}"));
  };
  CHECK(enabled("CBORServingAndStorage", "ALPHA") == 1);
  CHECK(enabled("APIResponseCompression", "BETA") == 0);
  CHECK(enabled("WatchListCompression", "BETA") == 1);
  CHECK(enabled("Old", "") == 1);
  CHECK(enabled("AllAlpha", "ALPHA") == 0);
  CHECK(enabled("AllBeta", "BETA") == 0);
}

TEST_CASE("server: the version is a metric", "[server]") {
  const auto server = StartWidgetServer({.configure = [](apiserver::server::Config& config) {
    config.version = {.major = "1", .minor = "30", .git_version = "v1.30.2", .git_commit = "abc"};
  }});

  CHECK(ValueOf(Scrape(*server),
                "kubernetes_build_info{major=\"1\",minor=\"30\",git_version=\"v1.30.2\",git_commit="
                "\"abc\",git_tree_state=\"\",build_date=\"\",go_version=\"none\",compiler=\"c++\","
                "platform=\"linux/amd64\"}") == 1);
}
