// The authorization filter: filters/authorization_test.go and what responsewriters write.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/audit/context.h"
#include "filter_fixture.h"

namespace apiserver::inline v0::server {
namespace {

using auth::Decision;

class Told final : public auth::Authorizer {
 public:
  explicit Told(Result<auth::Verdict> verdict) : verdict_(std::move(verdict)) {}
  Result<auth::Verdict> Authorize(const Context& /*ctx*/,
                                  const auth::Attributes& asked) const override {
    last = std::string(asked.verb) + (asked.resource_request ? " resource" : " path");
    for (const std::string_view part :
         {asked.group, asked.version, asked.namespace_, asked.resource, asked.subresource,
          asked.name, asked.path, asked.field_selector, asked.label_selector}) {
      last += "|" + std::string(part);
    }
    return verdict_;
  }
  mutable std::string last;  // One request at a time.

 private:
  const Result<auth::Verdict> verdict_;
};

// What audit would remember.
class Auditing final : public http::Filter {
 public:
  explicit Auditing(audit::AuditContextPtr context) : context_(std::move(context)) {}
  std::string_view name() const override { return "auditing"; }
  http::Step Begin(http::Exchange& exchange) const override {
    exchange.Set(audit::AuditContextPtr(context_));
    return http::Step::Next();
  }

 private:
  const audit::AuditContextPtr context_;
};

struct Asking {
  explicit Asking(Result<auth::Verdict> verdict)
      : authorizer(std::move(verdict)),
        fixture(testing::ChainOf(
            std::make_unique<Auditing>(events), NewRequestInfo(),
            NewAuthentication({.authenticator = &anybody}),
            NewAuthorization({.authorizer = &authorizer, .metrics = registry.get()}))) {}

  // "key=value" of each annotation.
  std::vector<std::string> Annotations() {
    std::vector<std::string> lines;
    events->Visit([&](audit::Event& event) {
      for (const auto& [key, value] : event.annotations) lines.push_back(key + "=" + value);
    });
    return lines;
  }

  audit::AuditContextPtr events =
      std::make_shared<audit::AuditContext>("id", RealClock(), NullLogSink());
  std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();
  testing::Anybody anybody;
  Told authorizer;
  testing::FilterFixture fixture;
};

// TestGetAuthorizerAttributes.
TEST_CASE("server: an authorizer is told what the request is about", "[server]") {
  Asking asking(auth::Verdict{.decision = Decision::kAllow});
  struct Row {
    std::string method;
    std::string target;
    std::string asked;
  };
  const std::vector<Row> rows{
      {"POST", "/", "post path|||||||/||"},
      {"GET", "/api/", "get path|||||||/api/||"},
      {"GET", "/apis/extensions/", "get path|||||||/apis/extensions/||"},
      {"POST", "/api/v1/nodes/mynode", "create resource||v1||nodes||mynode|/api/v1/nodes/mynode||"},
      {"PUT", "/api/v1/namespaces/myns/pods/mypod",
       "update resource||v1|myns|pods||mypod|/api/v1/namespaces/myns/pods/mypod||"},
      {"GET", "/apis/batch/v1/namespaces/myns/jobs",
       "list resource|batch|v1|myns|jobs|||/apis/batch/v1/namespaces/myns/jobs||"},
      {"GET", "/apis/batch/v1/namespaces/myns/jobs?fieldSelector=foo%3D%3Dbar&labelSelector=a%3Db",
       "list resource|batch|v1|myns|jobs|||/apis/batch/v1/namespaces/myns/jobs|foo==bar|a=b"},
  };
  for (const Row& row : rows) {
    INFO(row.method << " " << row.target);
    CHECK(asking.fixture.Call(row.method, row.target).code == 200);
    CHECK(asking.authorizer.last == row.asked);
  }
}

// TestAuditAnnotation.
TEST_CASE("server: the audit event says what was decided, and why", "[server]") {
  using Lines = std::vector<std::string>;
  const auto annotations = [](Result<auth::Verdict> verdict) {
    Asking asking(std::move(verdict));
    (void)asking.fixture.Call("GET", "/api/v1/namespaces/default/pods");
    return asking.Annotations();
  };
  CHECK(annotations(auth::Verdict{Decision::kAllow, "RBAC: allowed to patch pod"}) ==
        Lines{"authorization.k8s.io/decision=allow",
              "authorization.k8s.io/reason=RBAC: allowed to patch pod"});
  CHECK(annotations(auth::Verdict{Decision::kDeny, "RBAC: not allowed to patch pod"}) ==
        Lines{"authorization.k8s.io/decision=forbid",
              "authorization.k8s.io/reason=RBAC: not allowed to patch pod"});
  CHECK(annotations(Status(Reason::kInternalError, "can't parse user info")) ==
        Lines{"authorization.k8s.io/reason=internal error"});
}

// errors_test.go TestErrors and TestForbidden.
TEST_CASE("server: an authorizer that fails is a 500 in plain text", "[server]") {
  Asking asking(Status(Reason::kServiceUnavailable, "<oops> & more"));
  const auto answer = asking.fixture.Call("GET", "/api/v1/pods?limit=1");
  CHECK(answer.code == 500);
  CHECK(answer.body ==
        "Internal Server Error: \"/api/v1/pods?limit=1\": &lt;oops&gt; &amp; more\n");
  CHECK(answer.headers.Get("Content-Type") == "text/plain; charset=utf-8");
  CHECK(asking.fixture.handled() == 0);
}

TEST_CASE("server: what is refused is named without anything like HTML", "[server]") {
  Asking asking(auth::Verdict{.reason = "because <b>"});
  const auto resource = asking.fixture.Call("GET", "/apis/g/v1/namespaces/ns/things/a/sub");
  CHECK(resource.code == 403);
  CHECK(resource.body ==
        "things.g \"a\" is forbidden: User \"somebody\" cannot get resource \"things/sub\" in API "
        "group \"g\" in the namespace \"ns\": because <b>");
  const auto path = asking.fixture.Call("GET", "/a%3Cb%3E");
  CHECK(path.body.find("cannot get path \"/a&lt;b&gt;\": because <b>") != std::string::npos);
  CHECK(asking.fixture.handled() == 0);
}

TEST_CASE("server: authorization is counted by result", "[server]") {
  const auto shown = [](Result<auth::Verdict> verdict) {
    Asking asking(std::move(verdict));
    (void)asking.fixture.Call("GET", "/version");
    return asking.registry->Serialize();
  };
  const auto counts = [&](Result<auth::Verdict> verdict, const std::string& result) {
    const std::string text = shown(std::move(verdict));
    return text.find("authorization_attempts_total{result=\"" + result + "\"} 1\n") !=
               std::string::npos &&
           text.find("authorization_duration_seconds_count{result=\"" + result + "\"} 1\n") !=
               std::string::npos;
  };
  CHECK(counts(auth::Verdict{.decision = Decision::kAllow}, "allowed"));
  CHECK(counts(auth::Verdict{.decision = Decision::kDeny}, "denied"));
  CHECK(counts(auth::Verdict{}, "no-opinion"));
  CHECK(counts(Status(Reason::kInternalError, "x"), "error"));
}

}  // namespace
}  // namespace apiserver::inline v0::server
