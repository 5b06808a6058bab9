// What a webhook is told and what its answers are taken for: request/admissionreview_test.go,
// errors/statuserror_test.go.
#include <catch2/catch.hpp>
#include <string>

#include "admission/webhook/review.h"
#include "text/base64.h"
#include "webhook_fixture.h"

using namespace apiserver;  // NOLINT: tests only.
using apiserver::testing::EverythingRule;
using apiserver::testing::WidgetRequest;

namespace {

std::string Verified(const std::string& version, bool mutating, const std::string& body) {
  auto answer = admission::DecodeReview(body);
  if (!answer.ok()) return std::string(answer.status().message());
  const admission::ReviewRequest request{.uid = "123", .version = version};
  const Status status = admission::VerifyReview(request, mutating, *answer);
  if (!status.ok()) return std::string(status.message());
  std::string text = answer->allowed ? "allowed" : "denied";
  if (!answer->patch.empty()) text += " " + answer->patch + " " + *answer->patch_type;
  for (const auto& [key, value] : answer->audit_annotations) text += " " + key + "=" + value;
  return text;
}

std::string V1(const std::string& response,
               const std::string& type = R"("apiVersion":"admission.k8s.io/v1",)"
                                         R"("kind":"AdmissionReview")") {
  return "{" + type + (response.empty() ? "" : R"(,"response":{)" + response + "}") + "}";
}

constexpr char kPatch[] = R"([{"op":"add","path":"/foo","value":"bar"}])";

std::string Base64(const std::string& text) {
  std::string encoded;
  text::AppendBase64(text, encoded);
  return encoded;
}

}  // namespace

// admissionreview_test.go TestVerifyAdmissionResponse
TEST_CASE("webhook: an answer must be to the question, in its version", "[admission]") {
  const std::string expected =
      "expected webhook response of admission.k8s.io/v1, "
      "Kind=AdmissionReview, got ";
  const std::string patch = R"("patch":")" + Base64(kPatch) + "\"";
  struct Case {
    const char* name;
    const char* version;
    bool mutating;
    std::string body;
    std::string outcome;
  };
  const Case cases[] = {
      {"v1beta1 allowed validating", "v1beta1", false, R"({"response":{"allowed":true}})",
       "allowed"},
      {"v1 allowed validating", "v1", false, V1(R"("uid":"123","allowed":true)"), "allowed"},
      {"v1beta1 allowed mutating", "v1beta1", true, R"({"response":{"allowed":true}})", "allowed"},
      {"v1 allowed mutating", "v1", true, V1(R"("uid":"123","allowed":true)"), "allowed"},
      {"v1beta1 auditAnnotations", "v1beta1", false,
       R"({"response":{"allowed":true,"auditAnnotations":{"foo":"bar"}}})", "allowed foo=bar"},
      {"v1 auditAnnotations", "v1", false,
       V1(R"("uid":"123","allowed":true,"auditAnnotations":{"foo":"bar"})"), "allowed foo=bar"},
      {"v1beta1 patch", "v1beta1", true, R"({"response":{"allowed":true,)" + patch + "}}",
       "allowed " + std::string(kPatch) + " JSONPatch"},
      {"v1 patch", "v1", true, V1(R"("uid":"123","allowed":true,"patchType":"JSONPatch",)" + patch),
       "allowed " + std::string(kPatch) + " JSONPatch"},
      {"v1beta1 no response", "v1beta1", false, "{}", "webhook response was absent"},
      {"v1 no response", "v1", false, V1(""), "webhook response was absent"},
      {"v1 wrong group", "v1", false,
       V1(R"("uid":"123","allowed":true)",
          R"("apiVersion":"admission.k8s.io2/v1","kind":"AdmissionReview")"),
       expected + "admission.k8s.io2/v1, Kind=AdmissionReview"},
      {"v1 wrong version", "v1", false,
       V1(R"("uid":"123","allowed":true)",
          R"("apiVersion":"admission.k8s.io/v2","kind":"AdmissionReview")"),
       expected + "admission.k8s.io/v2, Kind=AdmissionReview"},
      {"v1 wrong kind", "v1", false,
       V1(R"("uid":"123","allowed":true)",
          R"("apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview2")"),
       expected + "admission.k8s.io/v1, Kind=AdmissionReview2"},
      {"v1 no kind", "v1", false, R"({"response":{"uid":"123","allowed":true}})",
       expected + "/, Kind="},
      {"v1 wrong uid", "v1", false, V1(R"("uid":"1234","allowed":true)"),
       R"(expected response.uid="123", got "1234")"},
      {"v1 patch without patch type", "v1", true, V1(R"("uid":"123","allowed":true,)" + patch),
       "webhook returned response.patch but not response.patchType"},
      {"v1 patch type without patch", "v1", true,
       V1(R"("uid":"123","allowed":true,"patchType":"JSONPatch")"),
       "webhook returned response.patchType but not response.patch"},
      {"v1 empty patch type", "v1", true,
       V1(R"("uid":"123","allowed":true,"patchType":"",)" + patch),
       R"(webhook returned invalid response.patchType of "")"},
      {"v1 validating patch", "v1", false,
       V1(R"("uid":"123","allowed":true,"patchType":"JSONPatch",)" + patch),
       "validating webhook may not return response.patch"},
      {"v1 validating patch type", "v1", false,
       V1(R"("uid":"123","allowed":true,"patchType":"JSONPatch")"),
       "validating webhook may not return response.patchType"},
      {"v1beta1 validating patch is ignored", "v1beta1", false,
       R"({"response":{"allowed":true,)" + patch + "}}", "allowed"},
      {"v1beta1 another patch type is taken for JSONPatch", "v1beta1", true,
       R"({"response":{"allowed":true,"patchType":"Foo",)" + patch + "}}",
       "allowed " + std::string(kPatch) + " JSONPatch"}};
  for (const Case& test : cases) {
    INFO(test.name);
    CHECK(Verified(test.version, test.mutating, test.body) == test.outcome);
  }
}

TEST_CASE("webhook: an answer whose members have other types is none", "[admission]") {
  struct Case {
    const char* body;
    const char* error;
  };
  const Case cases[] = {
      {"webhook invalid response", "couldn't get version/kind; json parse error: "},
      {"[]", "couldn't get version/kind; json parse error: json: cannot unmarshal array"},
      {"null", "couldn't get version/kind; json parse error: json: cannot unmarshal null"},
      {R"({"response":[]})", "json: cannot unmarshal array into Go struct field "},
      {R"({"response":{"allowed":"true"}})",
       "json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of "
       "type bool"},
      {R"({"response":{"uid":7}})", "json: cannot unmarshal number"},
      {R"({"response":{"status":"no"}})", "json: cannot unmarshal string"},
      {R"({"response":{"status":{"code":"403"}}})", "json: cannot unmarshal string"},
      {R"({"response":{"status":{"code":4294967700}}})", "json: cannot unmarshal number"},
      {R"({"response":{"patch":"*"}})", "illegal base64 data"},
      {R"({"response":{"auditAnnotations":{"a":1}}})", "json: cannot unmarshal number"},
      {R"({"response":{"warnings":"w"}})", "json: cannot unmarshal string"},
      {R"({"response":{"warnings":[1]}})", "json: cannot unmarshal a warning"},
      {R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"away","code":503})",
       "away"}};
  for (const Case& test : cases) {
    INFO(test.body);
    CHECK(Verified("v1", true, test.body).starts_with(test.error));
  }
}

// statuserror_test.go TestToStatusErr
TEST_CASE("webhook: a refusal is never a success, and says who refused", "[admission]") {
  const std::string by = R"(admission webhook "foo" denied the request)";
  struct Case {
    const char* status;
    std::string message;
    int code;
  };
  const Case cases[] = {{nullptr, by + " without explanation", 400},
                        {R"({"message":"you shall not pass"})", by + ": you shall not pass", 400},
                        {R"({"reason":"Forbidden"})", by + ": Forbidden", 400},
                        {R"({"message":"you shall not pass","reason":"Forbidden"})",
                         by + ": you shall not pass", 400},
                        {R"({"reason":"Homemade"})", by + ": Homemade", 400},
                        {"{}", by + " without explanation", 400},
                        {R"({"code":401})", by + " without explanation", 401},
                        {R"({"code":500})", by + " without explanation", 500},
                        {R"({"code":200})", by + " without explanation", 400},
                        {R"({"code":300})", by + " without explanation", 400},
                        {R"({"code":399})", by + " without explanation", 400},
                        {R"({"status":"Success"})", by + " without explanation", 400}};
  for (const Case& test : cases) {
    INFO((test.status ? test.status : "nil"));
    const std::string status = test.status ? std::string(R"(,"status":)") + test.status : "";
    const auto answer = admission::DecodeReview(R"({"response":{"allowed":false)" + status + "}}");
    REQUIRE(answer.ok());
    const Status refusal = admission::RefusalOf("foo", *answer);
    CHECK(refusal.message() == test.message);
    CHECK(refusal.code() == test.code);
  }
}

// admissionreview_test.go TestCreateAdmissionObjects
TEST_CASE("webhook: a review tells the whole request", "[admission]") {
  WidgetRequest request;
  request.user.groups = {"g1", "g2"};
  request.user.extra = {{"e", {"1", "2"}}};
  request.object.Edit("spec", "size") = 3;
  admission::Attributes attributes = request.Attributes();
  attributes.options = meta::CreateOptions{.dry_run = true, .field_manager = "me"};
  attributes.dry_run = true;
  admission::Webhook webhook{.name = "x", .review_versions = {"v2", "v1", "v1beta1"}};
  const admission::Invocation invocation{
      &webhook, {"example.com", "v1alpha1", "widgets"}, {"example.com", "v1alpha1", "Widget"}};
  const auto random = NewSeededRandom(1);
  const auto review =
      admission::NewReview(attributes, invocation, {&request.object, &request.old_object}, *random);
  REQUIRE(review.ok());
  CHECK(review->version == "v1");
  CHECK(review->json ==
        R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":")" +
            review->uid +
            R"(","kind":{"group":"example.com","version":"v1alpha1","kind":"Widget"},)"
            R"("resource":{"group":"example.com","version":"v1alpha1","resource":"widgets"},)"
            R"("requestKind":{"group":"example.com","version":"v1","kind":"Widget"},)"
            R"("requestResource":{"group":"example.com","version":"v1","resource":"widgets"},)"
            R"("name":"my-widget","namespace":"webhook-test","operation":"UPDATE","userInfo":)"
            R"({"username":"webhook-test","uid":"webhook-test","groups":["g1","g2"],)"
            R"("extra":{"e":["1","2"]}},"object":{"kind":"Widget","apiVersion":"example.com/v1",)"
            R"("metadata":{"name":"my-widget","namespace":"webhook-test","labels":)"
            R"({"widget.name":"my-widget"}},"spec":{"size":3}},"oldObject":{"kind":"Widget",)"
            R"("apiVersion":"example.com/v1","metadata":{"name":"my-widget","namespace":)"
            R"("webhook-test","labels":{"widget.name":"my-widget"}}},"dryRun":true,"options":)"
            R"({"kind":"UpdateOptions","apiVersion":"meta.k8s.io/v1","dryRun":["All"],)"
            R"("fieldManager":"me"}}})");
  webhook.review_versions = {"v2"};
  CHECK(admission::NewReview(attributes, invocation, {}, *random).status().message() ==
        "webhook does not accept known AdmissionReview versions (v1, v1beta1)");
}

TEST_CASE("webhook: a review of a deletion and of a connection has nulls", "[admission]") {
  WidgetRequest request;
  const admission::Webhook webhook{.name = "x", .review_versions = {"v1beta1"}};
  const admission::Invocation invocation{
      &webhook, {"example.com", "v1", "widgets"}, {"example.com", "v1", "Widget"}};
  const auto random = NewSeededRandom(1);
  admission::Attributes attributes = request.Attributes();
  attributes.operation = admission::Operation::kDelete;
  attributes.options =
      meta::DeleteOptions{.grace_period_seconds = 0,
                          .preconditions = {.uid = "u"},
                          .propagation_policy = meta::DeletionPropagation::kForeground};
  const auto deletion =
      admission::NewReview(attributes, invocation, {nullptr, &request.old_object}, *random);
  REQUIRE(deletion.ok());
  CHECK(deletion->json.find(R"("operation":"DELETE")") != std::string::npos);
  CHECK(deletion->json.find(R"("object":null,"oldObject":{"kind":"Widget")") != std::string::npos);
  CHECK(deletion->json.ends_with(
      R"("dryRun":false,"options":{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1",)"
      R"("gracePeriodSeconds":0,"preconditions":{"uid":"u"},"propagationPolicy":"Foreground"}}})"));
  attributes.operation = admission::Operation::kConnect;
  attributes.options = {};
  attributes.user = nullptr;
  const auto connection = admission::NewReview(attributes, invocation, {}, *random);
  REQUIRE(connection.ok());
  CHECK(connection->json.ends_with(R"("operation":"CONNECT","userInfo":{},"object":null,)"
                                   R"("oldObject":null,"dryRun":false,"options":null}})"));
}
