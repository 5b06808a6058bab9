#include <optional>
#include <set>
#include <string>
#include <utility>

#include "apiextensions/validation/go_struct_json.h"
#include "apiextensions/validation/names.h"
#include "apiextensions/validation/parts.h"
#include "apiserver/client/webhook_config.h"
#include "apiserver/meta/validation.h"
#include "text/base64.h"

namespace apiserver::v0::apiextensions {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

std::string BytesOf(const Value& value) {
  if (value.type() == Value::Type::kBytes) return std::string(value.AsString());
  return text::DecodeBase64(value.AsString()).value_or("");
}

void CheckClientConfig(const Value& config, const Demands& demands, const Path& path,
                       ErrorList& errors) {
  const Value url = config["url"];
  const Value service = config["service"];
  if (url.is_null() == service.is_null()) {
    errors.Required(path, "exactly one of url or service is required");
  } else if (!url.is_null()) {
    errors.Append(client::ValidateWebhookURL(path.Child("url"), url.AsString()));
  } else {
    std::optional<std::string> url_path;
    if (!service["path"].is_null()) url_path = std::string(service["path"].AsString());
    // Kubernetes gives name and namespace in each other's place, so its errors name the wrong one.
    errors.Append(client::ValidateWebhookService(path.Child("service"), service["name"].AsString(),
                                                 service["namespace"].AsString(), url_path,
                                                 static_cast<int>(service["port"].AsInt())));
  }
  const std::string bundle = BytesOf(config["caBundle"]);
  if (!demands.valid_ca_bundle || bundle.empty()) return;
  // Other webhooks do not print the bundle.
  std::string base64;
  text::AppendBase64(bundle, base64);
  for (const field::Error& error : client::ValidateCABundle(path.Child("caBundle"), bundle)) {
    errors.Invalid(Path(error.field), base64, error.detail);
  }
}

void CheckReviewVersions(const Value& versions, const Demands& demands, const Path& path,
                         ErrorList& errors) {
  if (versions.size() == 0) return errors.Required(path);
  std::set<std::string_view> seen;
  bool recognized = false;
  for (std::size_t i = 0; i < versions.size() && !errors.full(); ++i) {
    const std::string_view version = versions.at(i).AsString();
    if (!seen.insert(version).second) {
      errors.Invalid(path.Index(i), version, "duplicate version");
      continue;
    }
    for (std::string& complaint : meta::IsDNS1035Label(version)) {
      errors.Invalid(path.Index(i), version, std::move(complaint));
    }
    recognized |= IsRecognizedReviewVersion(version);
  }
  if (recognized || !demands.recognized_review_version) return;
  errors.InvalidPrinted(path, PrintedTexts(versions), "must include at least one of v1, v1beta1");
}

}  // namespace

bool IsRecognizedReviewVersion(std::string_view version) {
  return version == "v1" || version == "v1beta1";
}

void ValidateConversion(const Value& conversion, const Demands& demands, ErrorList& errors) {
  if (conversion.is_null()) return;
  const Path path("spec.conversion");
  const Path config_path = path.Child("webhookClientConfig");
  const Path versions_path = path.Child("conversionReviewVersions");
  const std::string_view strategy = conversion["strategy"].AsString();
  const Value config = conversion["webhook"]["clientConfig"];
  const Value versions = conversion["webhook"]["conversionReviewVersions"];
  ValidateWord(strategy, "None", "Webhook", path.Child("strategy"), errors);
  if (strategy == "Webhook") {
    if (config.is_null()) {
      errors.Required(config_path, "required when strategy is set to Webhook");
    } else {
      CheckClientConfig(config, demands, config_path, errors);
    }
    return CheckReviewVersions(versions, demands, versions_path, errors);
  }
  constexpr char kNotSet[] = "should not be set when strategy is not set to Webhook";
  if (!config.is_null()) errors.Forbidden(config_path, kNotSet);
  if (versions.size() > 0) errors.Forbidden(versions_path, kNotSet);
}

}  // namespace apiserver::v0::apiextensions
