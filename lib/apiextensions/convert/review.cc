#include "apiextensions/convert/review.h"

#include <algorithm>
#include <utility>

#include "apiextensions/convert/metadata_guard.h"
#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"
#include "base/status_macros.h"
#include "client/webhook_answer.h"

namespace apiserver::v0::apiextensions {

namespace {

using runtime::Value;

constexpr std::string_view kReviewGroup = "apiextensions.k8s.io";

// Returns the kind as schema.FromAPIVersionAndKind reads it and GroupVersionKind.String() prints
// it.
std::string PrintedReviewKind(std::string_view api_version, std::string_view kind) {
  std::string text(api_version);
  if (std::ranges::count(text, '/') > 1) text.clear();
  if (text.find('/') == std::string::npos) text.insert(0, 1, '/');
  return field::Shorten(text + ", Kind=" + std::string(kind));
}

// The members of an answer that decide whether it is one.
struct ReviewAnswer {
  std::string api_version;
  std::string kind;
  bool has_response = false;
  std::string uid;
  std::string status;
  std::string message;
  Value objects;
};

// Reads the members as Go decodes v1.ConversionReview.
Result<ReviewAnswer> ReadReviewAnswer(const Value& value) {
  client::AnswerReader reader;
  ReviewAnswer answer;
  answer.api_version = reader.Text(value, "apiVersion", "ConversionReview.apiVersion");
  answer.kind = reader.Text(value, "kind", "ConversionReview.kind");
  const Value response =
      reader.Map(value, "response", "ConversionReview.response", "v1.ConversionResponse");
  answer.has_response = !response.is_null();
  answer.uid = reader.Text(response, "uid", "ConversionResponse.response.uid");
  answer.objects =
      reader.List(response, "convertedObjects", "ConversionResponse.response.convertedObjects",
                  "[]runtime.RawExtension");
  const Value result =
      reader.Map(response, "result", "ConversionResponse.response.result", "v1.Status");
  answer.status = reader.Text(result, "status", "Status.response.result.status");
  answer.message = reader.Text(result, "message", "Status.response.result.message");
  (void)reader.Int32(result, "code", "Status.response.result.code");
  if (!reader.error().ok()) return ConversionError(std::string(reader.error().message()));
  return answer;
}

// Returns the error of an item that unstructured.UnmarshalJSON does not read as an object.
Status CheckConvertedIsObject(const Value& converted) {
  if (converted.is_null()) return ConversionError("unexpected end of JSON input");
  if (!converted.is_map()) {
    return ConversionError("json: cannot unmarshal " +
                           std::string(client::JsonTypeName(converted)) +
                           " into Go value of type map[string]interface {}");
  }
  // An apiVersion with more than one slash hides the kind, too.
  const std::string_view api_version = converted["apiVersion"].AsString();
  if (std::ranges::count(api_version, '/') <= 1 && !converted["kind"].AsString().empty()) return {};
  std::string json;
  codec::AppendJson(converted, json);
  return ConversionError("Object 'Kind' is missing in '" + field::Shorten(json) + "'");
}

// Checks version and kind.
Status CheckConvertedKind(const ConversionBatch& batch, const Value& original,
                          const Value& converted) {
  const auto got = runtime::GroupVersion::Parse(converted["apiVersion"].AsString());
  if (got != batch.to) {
    return ConversionError("invalid groupVersion (expected " + batch.to.ToString() + ", received " +
                           field::Shorten(got.ToString()) + ")");
  }
  const std::string_view kind = original["kind"].AsString();
  if (converted["kind"].AsString() == kind) return {};
  return ConversionError("invalid kind (expected " + std::string(kind) + ", received " +
                         field::Shorten(converted["kind"].AsString()) + ")");
}

// Returns the members but for kind and apiVersion, with other metadata.
Value ContentWith(const Value& converted, const Value& metadata, runtime::Arena& arena) {
  runtime::MapBuilder content(arena);
  for (const runtime::Member& member : converted.members()) {
    if (member.key == "kind" || member.key == "apiVersion") continue;
    content.Add(member.key, member.key == "metadata" ? metadata : member.value);
  }
  return content.Build();
}

}  // namespace

std::string_view FailureTypeName(ConversionFailure failure) {
  switch (failure) {
    case ConversionFailure::kMalformedResponse:
      return "conversion_webhook_malformed_response_failure";
    case ConversionFailure::kPartialResponse:
      return "conversion_webhook_partial_response_failure";
    case ConversionFailure::kInvalidConvertedObject:
      return "conversion_webhook_invalid_converted_object_failure";
    case ConversionFailure::kCall:
      break;
  }
  return "conversion_webhook_call_failure";
}

Status ConversionBatch::Error(std::string_view rest) const {
  return ConversionError("conversion webhook for " + from.ToString() + " " + std::string(rest));
}

Result<std::string> ReviewVersionOf(std::span<const std::string> versions) {
  const auto known = std::ranges::find_if(
      versions, [](const std::string& version) { return version == "v1" || version == "v1beta1"; });
  if (known == versions.end()) return ConversionError("no supported conversion review versions");
  return *known;
}

// The request carries an empty response, as upstream's does: a webhook may fill it in and send the
// review back.
ConversionReview NewConversionReview(std::string version, std::string uid,
                                     const runtime::GroupVersion& to,
                                     std::span<const std::string_view> objects) {
  ConversionReview review{.uid = std::move(uid), .version = std::move(version)};
  std::size_t bytes = 512;
  for (const std::string_view object : objects) bytes += object.size() + 1;
  review.json.reserve(bytes);
  review.json.append("{\"kind\":\"ConversionReview\",\"apiVersion\":\"").append(kReviewGroup);
  review.json.append("/").append(review.version).append("\",\"request\":{\"uid\":");
  codec::AppendJsonString(review.uid, review.json);
  review.json += ",\"desiredAPIVersion\":";
  codec::AppendJsonString(to.ToString(), review.json);
  review.json += ",\"objects\":[";
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (i > 0) review.json += ',';
    review.json += objects[i];
  }
  review.json +=
      "]},\"response\":{\"uid\":\"\",\"convertedObjects\":null,\"result\":{\"metadata\":{}}}}\n";
  return review;
}

// v1beta1 never checked kind and uid, and its webhooks do not send them all.
Result<std::vector<Value>> ConvertedObjectsOf(const ConversionReview& review, const Value& value) {
  ASSIGN_OR_RETURN(const ReviewAnswer answer, ReadReviewAnswer(value));
  const std::string expected = std::string(kReviewGroup) + "/v1, Kind=ConversionReview";
  const std::string got = PrintedReviewKind(answer.api_version, answer.kind);
  if (review.version == "v1" && got != expected) {
    return ConversionError("expected webhook response of " + expected + ", got " + got);
  }
  if (!answer.has_response) return ConversionError("no response provided");
  if (review.version == "v1" && answer.uid != review.uid) {
    return ConversionError("expected response.uid=" + field::QuoteShort(review.uid) + ", got " +
                           field::QuoteShort(answer.uid));
  }
  if (answer.status != "Success") {
    if (!answer.message.empty()) return ConversionError(field::Shorten(answer.message));
    return ConversionError("response.result.status was '" + field::Shorten(answer.status) +
                           "', not 'Success'");
  }
  const auto items = answer.objects.items();
  return std::vector<Value>(items.begin(), items.end());
}

// Upstream has other words for a single object than for one of a list, and none for a single one
// that cannot be read.
Result<Value> AcceptConverted(const ConversionBatch& batch, std::size_t index,
                              const Value& original, const Value& converted,
                              runtime::Arena& arena) {
  const bool single = batch.count == 1;
  const std::string at = " at index " + std::to_string(index) + ": ";
  const auto invalid = [&](std::string_view what, const Status& why) {
    return batch.Error("returned " + std::string(what) + std::string(why.message()));
  };
  if (const Status status = CheckConvertedIsObject(converted); !status.ok()) {
    return single ? status : invalid("invalid converted object" + at, status);
  }
  if (const Status status = CheckConvertedKind(batch, original, converted); !status.ok()) {
    return invalid((single ? "invalid object" : "invalid converted object") + at, status);
  }
  if (const Status status = CheckSameObject(original, converted); !status.ok()) {
    return invalid(single ? "invalid object: " : "invalid converted object" + at, status);
  }
  const Result<Value> metadata = RestoredMetadata(original, converted, arena);
  if (!metadata.ok()) {
    return invalid(single ? "invalid metadata: " : "invalid metadata in object" + at,
                   metadata.status());
  }
  return ContentWith(converted, *metadata, arena);
}

}  // namespace apiserver::v0::apiextensions
