#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "cel/fixed_authorizer.h"
#include "cel/run/print.h"

// Expectations are answers of k8s.io/apiserver 0.36.0.
namespace auth = apiserver::auth;
namespace cel = apiserver::cel;
using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using cel_test::FixedAuthorizer;

namespace {

// Evaluates expressions over `authorizer` and `authorizer.requestResource`.
struct Check {
  explicit Check(Result<auth::Verdict> answer) : authorizer(std::move(answer)) {}
  Check() : Check(auth::Verdict{auth::Decision::kAllow, "because"}) {}

  cel::Outcome Run(std::string_view expression, const Context& context) {
    const cel::Environment environment =
        cel::Environment::Kubernetes({1, 36}, cel::Mode::kStored)
            .With({{.name = "authorizer", .type = cel::AuthorizerType()},
                   {.name = "authorizer.requestResource", .type = cel::ResourceCheckType()}});
    const Result<cel::Program> program = cel::Compile(environment, expression);
    INFO(expression);
    REQUIRE(program.ok());
    const std::vector<cel::Input> inputs = {
        {cel::AuthorizerValue(authorizer.user(), scratch.arena())},
        {cel::ResourceCheckValue(authorizer.user(),
                                 {.group = "apps", .resource = "deployments", .name = "web"},
                                 scratch.arena())}};
    return cel::Evaluate(*program, inputs, budget, scratch, context);
  }
  std::string Show(std::string_view expression) {
    const cel::Outcome outcome = Run(expression, Context::Background());
    if (!outcome.ok()) return "error: " + std::string(outcome.error);
    return cel::PrintValue(outcome.value, scratch.arena());
  }
  // The question that an expression asks.
  std::string Asked(std::string_view expression) {
    Run(expression, Context::Background());
    REQUIRE_FALSE(authorizer.questions().empty());
    return authorizer.questions().back();
  }

  FixedAuthorizer authorizer;
  cel::Scratch scratch;
  cel::Budget budget;
};

}  // namespace

TEST_CASE("cel: a check asks the authorizer what the calls before it said", "[cel]") {
  Check check;
  CHECK(check.Asked("authorizer.path('/healthz').check('get')") ==
        "alice +system:authenticated path get - - - - - - /healthz - -");
  CHECK(check.Asked("authorizer.group('').resource('pods').check('create')") ==
        "alice +system:authenticated resource create - * pods - - - - - -");
  CHECK(check.Asked("authorizer.group('apps').resource('deployments').subresource('scale')"
                    ".namespace('n').name('web').check('update')") ==
        "alice +system:authenticated resource update apps * deployments scale n web - - -");
  CHECK(check.Asked("authorizer.requestResource.check('delete')") ==
        "alice +system:authenticated resource delete apps * deployments - - web - - -");
  CHECK(check.Asked("authorizer.requestResource.subresource('status').check('get')") ==
        "alice +system:authenticated resource get apps * deployments status - web - - -");
  CHECK(check.Asked("authorizer.serviceAccount('ns', 'robot').path('/x').check('get')") ==
        "system:serviceaccount:ns:robot +system:serviceaccounts +system:serviceaccounts:ns "
        "path get - - - - - - /x - -");
}

TEST_CASE("cel: selectors of a check travel as they are written", "[cel]") {
  Check check;
  CHECK(check.Asked("authorizer.group('').resource('pods').fieldSelector('spec.nodeName=a')"
                    ".labelSelector('not ) a selector').check('list')") ==
        "alice +system:authenticated resource list - * pods - - - - spec.nodeName=a "
        "not ) a selector");
}

TEST_CASE("cel: a check's decision tells its reason or its error", "[cel]") {
  Check allowed;
  CHECK(allowed.Show("authorizer.path('/x').check('get').allowed()") == "true");
  CHECK(allowed.Show("authorizer.path('/x').check('get').reason()") == "because");
  CHECK(allowed.Show("authorizer.path('/x').check('get').errored()") == "false");
  CHECK(allowed.Show("authorizer.path('/x').check('get').error()") == "");

  Check denied(auth::Verdict{auth::Decision::kDeny, "no"});
  CHECK(denied.Show("authorizer.path('/x').check('get').allowed()") == "false");
  Check silent(auth::Verdict{auth::Decision::kNoOpinion, ""});
  CHECK(silent.Show("authorizer.path('/x').check('get').allowed()") == "false");

  Check failed(Status(Reason::kInternalError, "webhook is down"));
  CHECK(failed.Show("authorizer.path('/x').check('get').allowed()") == "false");
  CHECK(failed.Show("authorizer.path('/x').check('get').errored()") == "true");
  CHECK(failed.Show("authorizer.path('/x').check('get').error()") == "webhook is down");
  CHECK(failed.Show("authorizer.path('/x').check('get').reason()") == "");
}

TEST_CASE("cel: a check needs a path, a resource and a valid service account", "[cel]") {
  Check check;
  CHECK(check.Show("authorizer.path('')") == "error: path must not be empty");
  CHECK(check.Show("authorizer.path(' \\u2003')") == "error: path must not be empty");
  CHECK(check.Show("authorizer.group('').resource(' ')") == "error: resource must not be empty");
  CHECK(check.Show("authorizer.serviceAccount('ns', 'Robot')") ==
        "error: Invalid service account name");
  CHECK(check.Show("authorizer.serviceAccount('n.s', 'robot')") ==
        "error: Invalid service account namespace");
  CHECK(check.Show("authorizer.serviceAccount('N', 'Robot')") ==
        "error: Invalid service account name");
  CHECK(check.authorizer.questions().empty());
}

TEST_CASE("cel: an authorizer that must wait ends the evaluation", "[cel]") {
  Check check(Status(Reason::kWouldBlock, "webhook"));
  const cel::Outcome outcome =
      check.Run("authorizer.path('/x').check('get').allowed() || true", Context::Background());
  CHECK(outcome.end == cel::End::kWouldBlock);
}

TEST_CASE("cel: an expression can afford two checks", "[cel]") {
  const std::string one = "authorizer.path('/x').check('get').allowed()";
  Check check;
  CHECK(check.Run(one + " && " + one, Context::Background()).cost == 700'006);
  CHECK(check.authorizer.questions().size() == 2);
  const cel::Outcome outcome = check.Run(one + " && " + one + " && " + one, Context::Background());
  CHECK(outcome.end == cel::End::kCostLimit);
  // The third is not made.
  CHECK(check.authorizer.questions().size() == 4);
}

TEST_CASE("cel: values of the authorizer library cannot be compared", "[cel]") {
  Check check;
  CHECK(check.Show("authorizer == authorizer") == "error: no such overload");
  CHECK(check.Show("authorizer.group('a') == authorizer.group('a')") == "error: no such overload");
  CHECK(check.Show("dyn(authorizer) == 1") == "error: no such overload");
  CHECK(check.Show("authorizer != authorizer") == "true");
  CHECK(check.Show("dyn(1) == dyn(authorizer)") == "false");
  CHECK(check.Show("authorizer in [authorizer]") == "false");
  // A list counts the error of an element as equality.
  CHECK(check.Show("[authorizer] == [authorizer]") == "true");
}
