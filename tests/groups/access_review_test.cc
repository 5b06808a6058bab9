#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/groups/authorization.h"
#include "apiserver/testing/server/test_server.h"
#include "codec/text.h"

namespace {

namespace auth = apiserver::auth;
using apiserver::Context;
using apiserver::Result;
using apiserver::Status;
using apiserver::codec::testing::Json;
using apiserver::runtime::KindPtr;
using apiserver::runtime::ObjectPtr;

std::string Printed(const auth::Attributes& asked) {
  std::string text = asked.user->name;
  for (const std::string& group : asked.user->groups) text += "," + group;
  for (const auto& [key, values] : asked.user->extra) {
    text += " " + key + "=";
    for (const std::string& value : values) text += value + ";";
  }
  text += ": " + std::string(asked.verb);
  if (!asked.resource_request) return text + " path " + std::string(asked.path);
  for (const std::string_view part : {asked.group, asked.version, asked.resource, asked.subresource,
                                      asked.namespace_, asked.name}) {
    text += " '" + std::string(part) + "'";
  }
  if (!asked.field_selector.empty()) text += " fields " + std::string(asked.field_selector);
  if (!asked.label_selector.empty()) text += " labels " + std::string(asked.label_selector);
  return text;
}

// Answers as it was told, and remembers the last question.
class Oracle final : public auth::Authorizer {
 public:
  explicit Oracle(Result<auth::Verdict> answer) : answer_(std::move(answer)) {}
  Result<auth::Verdict> Authorize(const Context& /*ctx*/,
                                  const auth::Attributes& attributes) const override {
    asked = Printed(attributes);
    return answer_;
  }
  mutable std::string asked;  // One thread at a time.

 private:
  const Result<auth::Verdict> answer_;
};

std::shared_ptr<Oracle> Says(auth::Decision decision, std::string reason = "") {
  return std::make_shared<Oracle>(auth::Verdict{.decision = decision, .reason = std::move(reason)});
}

// What creating `review` says: its status, or the error.
std::string Ask(const std::shared_ptr<Oracle>& oracle, const std::string& resource,
                const std::string& review, const std::string& ns = "") {
  const auto kinds = apiserver::groups::authorization::Kinds();
  REQUIRE(kinds.ok());
  const auto storages = apiserver::groups::authorization::AccessReviews(*kinds, oracle);
  const auto storage = storages.at(resource);
  auto decoded = apiserver::codec::DecodeObject(
      apiserver::codec::MediaType::kJson, std::make_shared<const std::string>(review),
      {.kind = storage->New()->kind_ptr(), .version = "v1"});
  INFO(decoded.status().ToString());
  REQUIRE(decoded.ok());
  Context ctx = Context::Child(Context::Background());
  ctx.Set(apiserver::rest::Namespace{ns});
  ctx.Set(auth::UserInfoPtr(
      std::make_shared<const auth::UserInfo>(auth::UserInfo{.name = "me", .groups = {"mine"}})));
  auto* const creater = apiserver::rest::Capabilities::Of(*storage).creater;
  REQUIRE(creater != nullptr);
  const Result<ObjectPtr> created = creater->Create(ctx, std::move(decoded->object), nullptr, {});
  return created.ok() ? Json((**created)["status"]) : std::string(created.status().message());
}

const std::string kSelf = "selfsubjectaccessreviews";
const std::string kSubject = "subjectaccessreviews";
const std::string kLocal = "localsubjectaccessreviews";

// registry/authorization/subjectaccessreview TestCreate, and the same of the one who asks.
TEST_CASE("groups: an authorizer is asked what the review asks", "[groups]") {
  struct Row {
    std::string resource;
    std::string review;
    std::string asked;
  };
  const std::string scale =
      R"("resourceAttributes":{"namespace":"myns","verb":"create","group":"extensions",)"
      R"("version":"v1beta1","resource":"deployments","subresource":"scale","name":"mine"}}})";
  const std::vector<Row> rows{
      {kSubject,
       R"({"spec":{"user":"bob","nonResourceAttributes":{"verb":"get","path":"/mypath"}}})",
       "bob: get path /mypath"},
      {kSubject, R"({"spec":{"user":"bob",)" + scale,
       "bob: create 'extensions' 'v1beta1' 'deployments' 'scale' 'myns' 'mine'"},
      {kSubject,
       R"({"spec":{"groups":["a","b"],"uid":"7","extra":{"k":["x","y"]},"resourceAttributes":{}}})",
       ",a,b k=x;y;:  '' '*' '' '' '' ''"},
      {kSelf, R"({"spec":{)" + scale,
       "me,mine: create 'extensions' 'v1beta1' 'deployments' 'scale' 'myns' 'mine'"},
      {kSelf, R"({"spec":{"nonResourceAttributes":{"verb":"get","path":"/healthz"}}})",
       "me,mine: get path /healthz"},
      {kLocal,
       R"({"spec":{"user":"bob","resourceAttributes":{"namespace":"myns","verb":"get"}},)"
       R"("metadata":{"namespace":"myns"}})",
       "bob: get '' '*' '' '' 'myns' ''"},
  };
  for (const Row& row : rows) {
    INFO(row.review);
    const auto oracle = Says(auth::Decision::kAllow, "because");

    CHECK(Ask(oracle, row.resource, row.review, row.resource == kLocal ? "myns" : "") ==
          R"({"allowed":true,"reason":"because"})");
    CHECK(oracle->asked == row.asked);
  }
}

TEST_CASE("groups: a review tells no, no opinion and a failure apart", "[groups]") {
  const std::string review =
      R"({"spec":{"resourceAttributes":{"verb":"get"}},"status":{"allowed":true,"reason":"x"}})";

  CHECK(Ask(Says(auth::Decision::kDeny, "never"), kSelf, review) ==
        R"({"allowed":false,"denied":true,"reason":"never"})");
  CHECK(Ask(Says(auth::Decision::kNoOpinion), kSelf, review) == R"({"allowed":false})");
  CHECK(Ask(std::make_shared<Oracle>(Status(apiserver::Reason::kInternalError, "myerror")), kSelf,
            review) == R"({"allowed":false,"evaluationError":"myerror"})");
}

// apis/authorization/validation TestValidateSARSpec, TestValidateSelfSAR, TestValidateLocalSAR
TEST_CASE("groups: a review that asks nothing, or two things, is refused", "[groups]") {
  struct Row {
    std::string resource;
    std::string review;
    std::string error;
  };
  const std::string one_of =
      "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or "
      "resourceAttributes must be specified";
  const std::string both =
      R"(spec.nonResourceAttributes: Invalid value: {"Path":"/p","Verb":"get"}: cannot be )"
      R"(specified in combination with resourceAttributes)";
  const std::string attributes =
      R"("resourceAttributes":{},"nonResourceAttributes":{"path":"/p","verb":"get"}}})";
  const std::string no_subject =
      R"(spec.user: Invalid value: "": at least one of user or group must be specified)";
  const std::vector<Row> rows{
      {kSelf, R"({})", one_of},
      {kSelf, R"({"spec":{)" + attributes, both},
      {kSelf, R"({"metadata":{"labels":{"a":"b"}},"spec":{"resourceAttributes":{}}})",
       R"(metadata: Invalid value: {"labels":{"a":"b"}}: must be empty)"},
      {kSubject, R"({"spec":{"user":"me"}})", one_of},
      {kSubject, R"({"spec":{"user":"me",)" + attributes, both},
      {kSubject, R"({"spec":{"resourceAttributes":{}}})", no_subject},
      {kSubject, R"({"metadata":{"name":"a"}})",
       "[" + one_of + ", " + no_subject +
           R"(, metadata: Invalid value: {"name":"a"}: must be empty])"},
      {kLocal, R"({"metadata":{"name":"a"},"spec":{"resourceAttributes":{},"user":"user"}})",
       R"(metadata: Invalid value: {"name":"a"}: must be empty except for namespace)"},
      {kLocal, R"({"metadata":{"namespace":"a"},"spec":{"resourceAttributes":{},"user":"user"}})",
       R"(spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace)"},
      {kLocal,
       R"({"metadata":{"namespace":"a"},"spec":{"nonResourceAttributes":{},"user":"user"}})",
       R"(spec.nonResourceAttributes: Invalid value: {"Path":"","Verb":""}: disallowed on this )"
       R"(kind of request)"},
  };
  for (const Row& row : rows) {
    INFO(row.review);
    const auto oracle = Says(auth::Decision::kAllow);

    CHECK(Ask(oracle, row.resource, row.review, "a") ==
          R"(.authorization.k8s.io "" is invalid: )" + row.error);
    CHECK(oracle->asked.empty());
  }
}

TEST_CASE("groups: a local review belongs to the namespace it is sent to", "[groups]") {
  const std::string review = R"({"metadata":{"namespace":"a"},)"
                             R"("spec":{"user":"u","resourceAttributes":{"namespace":"a"}}})";
  const auto oracle = Says(auth::Decision::kAllow);

  CHECK(Ask(oracle, kLocal, review, "a") == R"({"allowed":true})");
  CHECK(Ask(oracle, kLocal, review, "") == "namespace is required on this type: ");
  CHECK(Ask(oracle, kLocal, review, "b") ==
        "spec.resourceAttributes.namespace must match namespace: b");
}

// registry/authorization/util TestResourceAttributesFrom: selectors
TEST_CASE("groups: of a selector counts what is understood", "[groups]") {
  struct Row {
    std::string attributes;
    std::string asked;  // After the rest.
    std::string error;
  };
  const std::string fields = "spec.resourceAttributes.fieldSelector ";
  const std::string labels = "spec.resourceAttributes.labelSelector ";
  const std::string all = "ignored due to parse error";
  const std::string some = "partially ignored due to parse error";
  const std::vector<Row> rows{
      {R"("fieldSelector":{"rawSelector":"foo=bar"})", " fields foo=bar", ""},
      {R"("fieldSelector":{"rawSelector":"&Q"})", "", fields + all},
      {R"("fieldSelector":{"requirements":[{"key":"k","operator":"In","values":["v"]},)"
       R"({"key":"l","operator":"NotIn","values":["a,b=c\\"]}]})",
       " fields k=v,l!=a\\,b\\=c\\\\", ""},
      {R"("fieldSelector":{"requirements":[{"key":"k","operator":"In","values":["v"]},)"
       R"({"key":"k","operator":"Exists"}]})",
       " fields k=v", fields + some},
      {R"("fieldSelector":{"requirements":[{"key":"k","operator":"In","values":["v","w"]},)"
       R"({"key":"k","operator":"In"},{"key":"k","operator":"Near","values":["v"]}]})",
       "", fields + all},
      {R"("fieldSelector":{"requirements":[{"key":"k,l=m","operator":"In","values":["v"]}]})", "",
       fields + all},
      {R"("labelSelector":{"rawSelector":"a in (c,b),!d"})", " labels a in (c,b),!d", ""},
      {R"("labelSelector":{"rawSelector":"&Q"})", "", labels + all},
      {R"("labelSelector":{"requirements":[{"key":"a","operator":"In","values":["c","b","c"]},)"
       R"({"key":"d","operator":"NotIn","values":["e"]},{"key":"f","operator":"Exists"},)"
       R"({"key":"g","operator":"DoesNotExist"}]})",
       " labels a in (b,c),d notin (e),f,!g", ""},
      {R"("labelSelector":{"requirements":[{"key":"a","operator":"Exists"},)"
       R"({"key":"-","operator":"Exists"}]})",
       " labels a", labels + some},
      {R"("labelSelector":{"requirements":[{"key":"a","operator":"Exists","values":["b"]},)"
       R"({"key":"a","operator":"In"},{"key":"a","operator":"In","values":["b),c in (d"]},)"
       R"({"key":"a","operator":"Gt","values":["1"]}]})",
       "", labels + all},
      {R"("fieldSelector":{"rawSelector":"&Q"},"labelSelector":{"rawSelector":"&Q"})", "",
       fields + all + "; " + labels + all},
  };
  for (const Row& row : rows) {
    INFO(row.attributes);
    const auto oracle = Says(auth::Decision::kAllow);
    std::string status = R"({"allowed":true)";
    if (!row.error.empty()) status += R"(,"evaluationError":")" + row.error + "\"";

    CHECK(Ask(oracle, kSelf, R"({"spec":{"resourceAttributes":{)" + row.attributes + "}}}") ==
          status + "}");
    CHECK(oracle->asked == "me,mine:  '' '*' '' '' '' ''" + row.asked);
  }
}

// --- Through a server. ---

std::unique_ptr<apiserver::testing::TestServer> StartWithAuthorizer(
    std::shared_ptr<const auth::Authorizer> who) {
  auto server = std::move(apiserver::testing::StartTestServer({})).value();
  const Status installed =
      apiserver::groups::authorization::Install(server->server(), std::move(who));
  INFO(installed.ToString());
  REQUIRE(installed.ok());
  return server;
}

const std::string kAccessReviews = "/apis/authorization.k8s.io/v1/";
// What kubectl auth can-i sends, as JSON up to 1.31.
const std::string kCanI =
    R"({"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1",)"
    R"("metadata":{"creationTimestamp":null},"spec":{"resourceAttributes":{"namespace":"default",)"
    R"("verb":"create","group":"apps","resource":"deployments"}},"status":{"allowed":false}})";

std::string StatusOf(const std::string& json) {
  apiserver::runtime::Arena arena;
  const auto value = apiserver::codec::ParseJson(json, arena);
  REQUIRE(value.ok());
  return Json((*value)["status"]);
}

TEST_CASE("groups: kubectl auth can-i is answered in JSON", "[groups]") {
  const auto oracle = Says(auth::Decision::kDeny, "not today");
  const auto server = StartWithAuthorizer(oracle);

  const auto answer = server->Call("POST", kAccessReviews + kSelf, kCanI);

  INFO(answer.body);
  CHECK(answer.code == 201);
  CHECK(StatusOf(answer.body) == R"({"allowed":false,"denied":true,"reason":"not today"})");
  CHECK(oracle->asked ==
        "system:apiserver,system:authenticated,system:masters: create 'apps' '*' 'deployments' '' "
        "'default' ''");
}

TEST_CASE("groups: kubectl auth can-i is answered in protobuf", "[groups]") {
  const auto server = StartWithAuthorizer(nullptr);
  const auto kinds = apiserver::groups::authorization::Kinds();
  REQUIRE(kinds.ok());
  const KindPtr kind = (*kinds)[1];
  REQUIRE(kind->kind() == "SelfSubjectAccessReview");
  auto review = apiserver::codec::DecodeObject(apiserver::codec::MediaType::kJson,
                                               std::make_shared<const std::string>(kCanI),
                                               {.kind = kind, .version = "v1"});
  REQUIRE(review.ok());
  const std::string body =
      apiserver::codec::EncodeProtobuf(Context::Background(), *review->object, "v1").value();
  const std::string media_type = "application/vnd.kubernetes.protobuf";

  const auto answer =
      server->Call("POST", kAccessReviews + kSelf, body,
                   {{"Content-Type", media_type}, {"Accept", media_type + ",application/json"}});

  REQUIRE(answer.code == 201);
  CHECK(answer.headers.Get("Content-Type") == media_type);
  const auto decoded = apiserver::codec::DecodeObject(
      apiserver::codec::MediaType::kProtobuf, std::make_shared<const std::string>(answer.body),
      {.kind = kind, .version = "v1"});
  REQUIRE(decoded.ok());
  CHECK(Json((*decoded->object)["status"]) == R"({"allowed":true})");
  CHECK(Json((*decoded->object)["spec"]) ==
        R"({"resourceAttributes":{"namespace":"default","verb":"create","group":"apps",)"
        R"("resource":"deployments"}})");
}

TEST_CASE("groups: access reviews can be created and nothing else", "[groups]") {
  const auto server = StartWithAuthorizer(nullptr);
  const std::string local = kAccessReviews + "namespaces/a/" + kLocal;
  const std::string spec = R"("spec":{"user":"u","resourceAttributes":{"namespace":"a"}})";

  CHECK(server->Call("GET", kAccessReviews + kSelf).code == 405);
  CHECK(server->Call("DELETE", kAccessReviews + kSelf + "/x").code == 404);
  CHECK(server->Call("POST", kAccessReviews + kSubject, "{" + spec + "}").code == 201);
  CHECK(server->Call("POST", local, "{" + spec + "}").code == 201);
  CHECK(server->Call("POST", local, R"({"metadata":{"namespace":"b"},)" + spec + "}").code == 400);
  const auto invalid = server->Call("POST", kAccessReviews + kSelf, "{}");
  CHECK(invalid.code == 422);
  CHECK(invalid.body.find(R"(".authorization.k8s.io \"\" is invalid: spec.resourceAttributes)") !=
        std::string::npos);
}

TEST_CASE("groups: access reviews are listed in discovery and described in OpenAPI", "[groups]") {
  const auto server = StartWithAuthorizer(nullptr);

  const std::string resources = server->Call("GET", "/apis/authorization.k8s.io/v1").body;
  CHECK(resources.find(
            R"({"name":"selfsubjectaccessreviews","singularName":"selfsubjectaccessreview",)"
            R"("namespaced":false,"kind":"SelfSubjectAccessReview","verbs":["create"]})") !=
        std::string::npos);
  CHECK(resources.find(R"("namespaced":true,"kind":"LocalSubjectAccessReview")") !=
        std::string::npos);
  CHECK(resources.find("selfsubjectrulesreviews") != std::string::npos);
  const std::string openapi = server->Call("GET", "/openapi/v3/apis/authorization.k8s.io/v1").body;
  CHECK(openapi.find("io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec") !=
        std::string::npos);
  CHECK(openapi.find("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") !=
        std::string::npos);
}

// selfsubjectrulesreview/rest.go: without an authorizer everything is allowed.
TEST_CASE("groups: an authorizer whose rules nobody can list serves no rules review", "[groups]") {
  const std::string asked = R"({"spec":{"namespace":"a"}})";
  const std::string rules = kAccessReviews + "selfsubjectrulesreviews";
  CHECK(StartWithAuthorizer(Says(auth::Decision::kAllow))->Call("POST", rules, asked).code == 404);
  const auto answer = StartWithAuthorizer(nullptr)->Call("POST", rules, asked);
  CHECK(answer.code == 201);
  CHECK(
      answer.body.find(
          R"("status":{"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}],)"
          R"("nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}],"incomplete":false})") !=
      std::string::npos);
}

}  // namespace
