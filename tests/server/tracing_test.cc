// The spans of requests, and whose word counts on them.
#include <catch2/catch.hpp>

#include <string>

#include "base/kept_spans.h"
#include "filter_fixture.h"
#include "widget_server.h"

namespace server = apiserver::server;
namespace trace = apiserver::trace;
using apiserver::Context;
using apiserver::http::ClientResponse;
using apiserver::testing::AttributeOf;
using apiserver::testing::KeptSpans;
using apiserver::testing::kWidgets;
using apiserver::testing::SpanNamed;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::TreeOf;
using apiserver::testing::Widget;

namespace {

constexpr const char* kTraceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
constexpr const char* kNotSampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
constexpr const char* kTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";

// Takes everyone for a member of one group.
class InGroup final : public apiserver::auth::Authenticator {
 public:
  explicit InGroup(std::string group) : group_(std::move(group)) {}
  apiserver::Result<std::optional<apiserver::auth::AuthenticateResponse>> Authenticate(
      const Context&, const apiserver::http::Request&) const override {
    return apiserver::auth::AuthenticateResponse{std::make_shared<apiserver::auth::UserInfo>(
        apiserver::auth::UserInfo{.name = "somebody", .groups = {group_}})};
  }

 private:
  std::string group_;
};

// The chain up to the tracing filter, for somebody of `group`.
struct TracedChain {
  explicit TracedChain(const std::string& group, int rate = 0)
      : authenticator(group), tracer(KeptSpans::Tracer(kept, rate)) {}

  std::shared_ptr<KeptSpans> kept = std::make_shared<KeptSpans>();
  InGroup authenticator;
  std::shared_ptr<const trace::Tracer> tracer;
  apiserver::testing::FilterFixture chain{apiserver::testing::ChainOf(
      server::NewAuditId(apiserver::SecureRandom()), server::NewRequestInfo(),
      server::NewAuthentication({.authenticator = &authenticator}), server::NewTracing(*tracer))};
};

std::shared_ptr<KeptSpans> Trace(apiserver::testing::TestServerOptions& options) {
  auto kept = std::make_shared<KeptSpans>();
  options.configure = [kept](server::Config& config) { config.tracer = KeptSpans::Tracer(kept); };
  return kept;
}

}  // namespace

// getSpanNameFromRequestInfo
TEST_CASE("server: a request's span is named by its route", "[server]") {
  struct Case {
    std::string method;
    std::string target;
    std::string name;
  };
  const auto test = GENERATE(values<Case>({
      {"GET", "/healthz", "GET"},
      {"POST", "/apis", "POST"},
      {"GET", "/api/v1/pods", "GET /api/v1/pods"},
      {"GET", "/api/v1/namespaces/default/pods", "GET /api/v1/namespaces/{:namespace}/pods"},
      {"GET", "/api/v1/namespaces/kube-system",
       "GET /api/v1/namespaces/{:namespace}/namespaces"
       "/{:name}"},
      {"PUT", "/apis/apps/v1/namespaces/a/deployments/b/scale?dryRun=All",
       "PUT /apis/apps/v1/namespaces/{:namespace}/deployments/{:name}/scale"},
      {"DELETE", "/apis/example.com/v1/widgets/w", "DELETE /apis/example.com/v1/widgets/{:name}"},
  }));
  TracedChain traced("", 1'000'000);

  traced.chain.Call(test.method, test.target);

  REQUIRE(traced.kept->all().size() == 1);
  CHECK(traced.kept->all()[0].name == test.name);
  CHECK(traced.kept->all()[0].kind == trace::SpanKind::kServer);
}

// notSystemPrivilegedGroup
TEST_CASE("server: only the privileged put requests into their traces", "[server]") {
  struct Case {
    std::string group;
    bool trusted;
  };
  const auto test = GENERATE(values<Case>({{"system:masters", true},
                                           {"system:monitoring", true},
                                           {"system:authenticated", false},
                                           {"system:nodes", false},
                                           {"", false}}));
  INFO(test.group);
  TracedChain unasked(test.group, 0);
  unasked.chain.Call("GET", "/healthz", {{"traceparent", kTraceparent}});
  REQUIRE(unasked.kept->all().size() == (test.trusted ? 1 : 0));

  TracedChain always(test.group, 1'000'000);
  always.chain.Call("GET", "/healthz", {{"traceparent", kTraceparent}, {"tracestate", "a=1"}});
  REQUIRE(always.kept->all().size() == 1);
  const trace::SpanData span = always.kept->all()[0];
  CHECK((span.context.TraceIdHex() == kTraceId) == test.trusted);
  CHECK((span.parent_id != trace::SpanId{}) == test.trusted);
  CHECK(span.context.state == (test.trusted ? "a=1" : ""));
  // Whose trace it does not stand in, it is linked to.
  REQUIRE(span.links.size() == (test.trusted ? 0 : 1));
  if (!test.trusted) CHECK(trace::FormatTraceparent(span.links[0]) == kTraceparent);
}

TEST_CASE("server: a privileged caller can keep requests out of traces, others cannot",
          "[server]") {
  TracedChain masters("system:masters", 1'000'000);
  masters.chain.Call("GET", "/healthz", {{"traceparent", kNotSampled}});
  CHECK(masters.kept->all().empty());

  TracedChain others("", 1'000'000);
  others.chain.Call("GET", "/healthz", {{"traceparent", kNotSampled}});
  CHECK(others.kept->all().size() == 1);
}

TEST_CASE("server: a traceparent that is none, or two, is none", "[server]") {
  TracedChain traced("system:masters", 1'000'000);
  traced.chain.Call("GET", "/healthz", {{"traceparent", "00-xyz"}});
  traced.chain.Call("GET", "/healthz",
                    {{"traceparent", kTraceparent}, {"traceparent", kNotSampled}});

  for (const trace::SpanData& span : traced.kept->all()) {
    CHECK(span.parent_id == trace::SpanId{});
    CHECK(span.links.empty());
  }
  CHECK(traced.kept->all().size() == 2);
}

TEST_CASE("server: a request's span tells what otelhttp tells, and the audit id", "[server]") {
  TracedChain traced("", 1'000'000);

  traced.chain.Call("BREW", "/api/v1/pods?limit=1&access_token=hunter2",
                    {{"User-Agent", "kubectl/v1.35"},
                     {"X-Forwarded-For", "192.0.2.7, 10.0.0.1"},
                     {"Audit-ID", std::string(70, 'a')}});

  REQUIRE(traced.kept->all().size() == 1);
  const trace::SpanData span = traced.kept->all()[0];
  const auto of = [&span](const std::string& key) { return AttributeOf(span, key); };
  CHECK(of("http.request.method") == "_OTHER");
  CHECK(of("http.request.method_original") == "BREW");
  CHECK(of("url.scheme") == "http");
  CHECK(of("url.path") == "/api/v1/pods");
  // What is in process counts as that.
  CHECK(of("network.protocol.version") == "2");
  CHECK(of("client.address") == "192.0.2.7");
  CHECK(of("user_agent.original") == "kubectl/v1.35");
  CHECK(of("http.target") == "/api/v1/pods?limit=1&access_token=REDACTED");
  CHECK(of("audit-id") == std::string(64, 'a'));
  CHECK(of("http.response.status_code") == "200");
  CHECK(of("http.response.body.size") == "7");
  CHECK(span.status == trace::SpanStatus::kUnset);
}

TEST_CASE("server: only errors of the server are errors of a request's span", "[server]") {
  const int code = GENERATE(400, 404, 429, 500, 503);
  TracedChain traced("", 1'000'000);
  traced.chain.handler = [code](apiserver::http::Exchange&) -> apiserver::http::Step {
    return apiserver::Status(apiserver::Reason::kUnknown, "no").WithCode(code);
  };

  REQUIRE(traced.chain.Call("GET", "/healthz").code == code);

  REQUIRE(traced.kept->all().size() == 1);
  const trace::SpanData span = traced.kept->all()[0];
  CHECK(AttributeOf(span, "http.response.status_code") == std::to_string(code));
  CHECK((span.status == trace::SpanStatus::kError) == (code >= 500));
}

TEST_CASE("server: what a real server's requests do is a tree of spans", "[server]") {
  apiserver::testing::TestServerOptions options;
  const auto kept = Trace(options);
  const auto server = StartWidgetServer(std::move(options));
  const std::string collection = "/apis/example.com/v1/namespaces/{:namespace}/widgets";

  const std::string one = std::string(kWidgets) + "/a";
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 1), {{"traceparent", kTraceparent}}).code ==
          201);
  REQUIRE(server->Call("GET", one).code == 200);
  REQUIRE(server->Call("GET", kWidgets).code == 200);
  REQUIRE(server
              ->Call("PATCH", one, R"({"spec":{"size":2}})",
                     {{"Content-Type", "application/merge-patch+json"}})
              .code == 200);
  REQUIRE(server->Call("DELETE", one).code == 200);
  // The branches of a request's tree below its handler's.
  const auto below = [&](const std::string& root, const std::string& handler) {
    std::vector<std::string> found;
    for (const std::string& line : TreeOf(kept->TraceOf(root))) {
      const std::string end = " < " + handler + " < " + root;
      if (line.ends_with(end)) found.push_back(line.substr(0, line.size() - end.size()));
    }
    return found;
  };
  using Names = std::vector<std::string>;

  const auto created = kept->TraceOf("POST " + collection);
  const std::string root = "POST " + collection;
  CHECK(TreeOf(created) == Names{"Create < " + root, "Create store < Create < " + root, root,
                                 "SerializeObject < Create < " + root, "authorization < " + root,
                                 "impersonation < " + root, "priorityandfairness < " + root});
  CHECK(created.front().context.TraceIdHex() == kTraceId);
  CHECK(AttributeOf(SpanNamed(created, "Create"), "resource") == "widgets");
  CHECK(AttributeOf(SpanNamed(created, "Create"), "scope") == "resource");
  CHECK(AttributeOf(SpanNamed(created, "Create store"), "key") == "/default/a");
  CHECK(AttributeOf(SpanNamed(created, "Create store"), "resource") == "widgets");
  CHECK(below("GET " + collection + "/{:name}", "Get") == Names{"SerializeObject", "cacher.Get"});
  CHECK(below("GET " + collection, "List") == Names{"SerializeObject", "cacher.GetList"});
  CHECK(below("PATCH " + collection + "/{:name}", "Patch") ==
        Names{"GuaranteedUpdate store", "SerializeObject"});
  CHECK(below("DELETE " + collection + "/{:name}", "Delete") ==
        Names{"Delete store", "cacher.Get"});
}

TEST_CASE("server: requests are not traced unless that is asked for", "[server]") {
  const auto server = StartWidgetServer();
  ClientResponse got = server->Call("GET", kWidgets, "", {{"traceparent", kTraceparent}});
  CHECK(got.code == 200);
}

TEST_CASE("server: stopping flushes the tracer", "[server]") {
  apiserver::testing::TestServerOptions options;
  const auto kept = Trace(options);
  const auto server = StartWidgetServer(std::move(options));
  CHECK(kept->flushes() == 0);

  server->server().Stop();

  CHECK(kept->flushes() == 1);
}
