// Reads the answer of a webhook, which is not trusted: every member is checked before it is used.
#include <optional>
#include <utility>

#include "admission/webhook/review.h"
#include "apiserver/meta/status.h"
#include "client/webhook_answer.h"
#include "text/base64.h"

namespace apiserver::v0::admission {

namespace {

using client::AnswerReader;
using runtime::Value;

// Reads a metav1.Status within the answer, which need not name its kind.
void ReadResult(const Value& status, AnswerReader& reader, runtime::Arena& arena,
                ReviewAnswer& answer) {
  const int code = reader.Int32(status, "code", "Status.response.status.code");
  const std::string message = reader.Text(status, "message", "Status.response.status.message");
  answer.result_reason = reader.Text(status, "reason", "Status.response.status.reason");
  const Value details =
      reader.Map(status, "details", "Status.response.status.details", "v1.StatusDetails");
  if (!reader.error().ok()) return;
  runtime::MapBuilder failure(arena);
  failure.Add("kind", Value::String("Status"));
  failure.Add("apiVersion", Value::String("v1"));
  failure.Add("status", Value::String("Failure"));
  failure.Add("message", Value::String(message));
  failure.Add("reason", Value::String(answer.result_reason));
  if (!details.is_null()) failure.Add("details", details);
  // A refusal is never a success.
  failure.Add("code", Value::Int(code < 400 ? 400 : code));
  answer.result = meta::StatusFromValue(failure.Build());
}

// AdmissionResponse.patch is []byte in Go, hence base64 in JSON.
void ReadPatch(const Value& response, AnswerReader& reader, ReviewAnswer& answer) {
  const std::string text = reader.Text(response, "patch", "AdmissionResponse.response.patch");
  if (std::optional<std::string> patch = text::DecodeBase64(text)) {
    answer.patch = std::move(*patch);
  } else {
    reader.Fail("illegal base64 data in response.patch");
  }
  // An empty patchType differs from an absent one: v1 refuses it.
  if (response.Find("patchType") != nullptr && !response["patchType"].is_null()) {
    answer.patch_type = reader.Text(response, "patchType", "AdmissionResponse.response.patchType");
  }
}

void ReadResponse(const Value& response, AnswerReader& reader, runtime::Arena& arena,
                  ReviewAnswer& answer) {
  answer.has_response = true;
  answer.uid = reader.Text(response, "uid", "AdmissionResponse.response.uid");
  answer.allowed = reader.Bool(response, "allowed", "AdmissionResponse.response.allowed");
  const Value status =
      reader.Map(response, "status", "AdmissionResponse.response.status", "v1.Status");
  if (!status.is_null()) ReadResult(status, reader, arena, answer);
  ReadPatch(response, reader, answer);
  const Value annotations =
      reader.Map(response, "auditAnnotations", "AdmissionResponse.response.auditAnnotations",
                 "map[string]string");
  for (const runtime::Member& member : annotations.members()) {
    answer.audit_annotations.emplace(
        member.key,
        reader.Text(annotations, member.key, "AdmissionResponse.response.auditAnnotations"));
  }
  const Value warnings =
      reader.List(response, "warnings", "AdmissionResponse.response.warnings", "[]string");
  // Go's decoder refuses the whole answer for one warning that is no string.
  for (const Value& warning : warnings.items()) {
    if (!warning.is_string()) reader.Fail("json: cannot unmarshal a warning that is no string");
    answer.warnings.emplace_back(warning.AsString());
  }
}

}  // namespace

// Follows the decoding of an AdmissionReview by client-go; errors have its words.
Result<ReviewAnswer> DecodeReview(std::string_view body) {
  runtime::Arena arena;
  const Result<Value> parsed = client::DecodeWebhookAnswer(body, arena);
  if (!parsed.ok()) return parsed.status();
  AnswerReader reader;
  ReviewAnswer answer{
      .api_version = reader.Text(*parsed, "apiVersion", "AdmissionReview.apiVersion"),
      .kind = reader.Text(*parsed, "kind", "AdmissionReview.kind")};
  const Value response =
      reader.Map(*parsed, "response", "AdmissionReview.response", "v1.AdmissionResponse");
  if (!response.is_null()) ReadResponse(response, reader, arena, answer);
  if (!reader.error().ok()) return reader.error();
  return answer;
}

}  // namespace apiserver::v0::admission
