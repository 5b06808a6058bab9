// pkg/authorization/cel: compile_test.go, matcher_test.go; the conditions of
// plugin/pkg/authorizer/webhook.
#include "authz/webhook/conditions.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/file_system.h"
#include "apiserver/codec/json.h"
#include "authz/asking.h"

namespace apiserver::inline v0::authz {
namespace {

using Texts = std::vector<std::string>;

std::shared_ptr<const AccessConditions> Compiled(const Texts& expressions) {
  field::ErrorList errors;
  auto conditions = CompileAccessConditions(expressions, field::Path("c"), errors);
  INFO((errors.empty() ? "" : errors.Aggregate()));
  REQUIRE(errors.empty());
  return conditions;
}

auth::Attributes Pods() {
  static const auth::UserInfoPtr user = std::make_shared<const auth::UserInfo>(
      auth::UserInfo{.name = "bob", .groups = {"a", "b"}, .extra = {{"scopes", {"x", "y"}}}});
  return {.user = user,
          .verb = "list",
          .resource_request = true,
          .version = "v1",
          .resource = "pods",
          .namespace_ = "kube-system",
          .field_selector = "spec.nodeName=n",
          .label_selector = "app in (a,b),!old"};
}

// "true", "false", or the error.
std::string Judge(const Texts& expressions, const auth::Attributes& asked = Pods()) {
  const ConditionOutcome outcome = Compiled(expressions)->Evaluate(Context::Background(), asked);
  if (!outcome.error.empty()) return outcome.error;
  return outcome.matches ? "true" : "false";
}

}  // namespace

// TestCompileCELExpression
TEST_CASE("authz: conditions compile as upstream", "[authz]") {
  const auto file = RealFileSystem().Read("tests/cel/data/authorization.jsonl");
  REQUIRE(file.ok());
  std::string_view rest = *file;
  int rows = 0;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    runtime::Arena arena;
    const auto parsed = codec::ParseJson(line, arena);
    REQUIRE(parsed.ok());
    const runtime::Value row = (*parsed)["row"];
    // Selectors are always there, as they are in Kubernetes 1.34.
    const std::string_view error = row["expectedError"].AsString();
    if (row.is_null() || error.find("Selector'") != std::string_view::npos) continue;
    field::ErrorList errors;
    (void)CompileAccessConditions({std::string(row["expression"].AsString())}, field::Path("c"),
                                  errors);
    const std::string found = errors.empty() ? "" : errors.Aggregate();
    INFO(row["name"].AsString() << ": " << found);
    CHECK(found.empty() == error.empty());
    CHECK(found.find(error) != std::string::npos);
    ++rows;
  }
  CHECK(rows == 9);
}

TEST_CASE("authz: conditions see the whole review", "[authz]") {
  CHECK(
      Judge({"request.user == 'bob' && request.uid == '' && 'b' in request.groups",
             "request.extra['scopes'] == ['x', 'y']",
             "request.resourceAttributes.namespace == 'kube-system'",
             "request.resourceAttributes.group == '' && request.resourceAttributes.name == ''",
             "request.resourceAttributes.verb + request.resourceAttributes.resource == 'listpods'",
             "request.resourceAttributes.fieldSelector.requirements[0].key == 'spec.nodeName'",
             "request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'app' && "
             "r.operator == 'In' && 'b' in r.values)",
             "request.resourceAttributes.labelSelector.requirements[1].operator == 'DoesNotExist'",
             "!has(request.nonResourceAttributes)"}) == "true");
  auth::Attributes path = Pods();
  path.resource_request = false;
  path.path = "/healthz";
  CHECK(Judge({"request.nonResourceAttributes.path == '/healthz'",
               "request.nonResourceAttributes.verb == 'list'", "!has(request.resourceAttributes)"},
              path) == "true");
  auth::Attributes plain = Pods();
  plain.field_selector = {};
  CHECK(Judge({"!has(request.resourceAttributes.fieldSelector)"}, plain) == "true");
}

// TestCELMatcher of matcher_test.go: false beats errors, errors are joined.
TEST_CASE("authz: a condition that is false wins over one that fails", "[authz]") {
  const std::string fails = "request.nonResourceAttributes.path == '/'";
  const std::string error = "cel evaluation error: expression '" + fails +
                            "' resulted in error: no such key: nonResourceAttributes";
  CHECK(Judge({fails}) == error);
  CHECK(Judge({fails, "true"}) == error);
  CHECK(Judge({fails, "request.user == 'alice'"}) == "false");
  CHECK(Judge({"true", "request.user == 'bob'"}) == "true");
  CHECK(Judge({fails, "true", fails + " "}) ==
        "[" + error + ", cel evaluation error: expression '" + fails +
            " ' resulted in error: no such key: nonResourceAttributes]");
}

TEST_CASE("authz: the outcomes of conditions are counted", "[authz]") {
  const auto registry = metrics::NewRegistry();
  const ConditionMetrics metrics(registry.get(), "w");
  metrics.Observe({}, std::chrono::milliseconds(1));
  metrics.Observe({.matches = false}, std::chrono::milliseconds(1));
  metrics.Observe({.matches = false, .error = "e"}, std::chrono::milliseconds(1));
  const std::string text = registry->Serialize();
  const std::string labels = R"({type="Webhook",name="w"} )";
  for (const std::string& line :
       {"apiserver_authorization_match_condition_exclusions_total" + labels + "1",
        "apiserver_authorization_match_condition_evaluation_errors_total" + labels + "1",
        "apiserver_authorization_match_condition_evaluation_seconds_count" + labels + "3"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

}  // namespace apiserver::inline v0::authz
