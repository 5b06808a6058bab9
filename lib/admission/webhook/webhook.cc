#include "apiserver/admission/webhook.h"

#include <map>
#include <utility>

#include "apiserver/meta/label_selector_value.h"
#include "text/base64.h"

namespace apiserver::v0::admission {

namespace {

using runtime::Value;

std::vector<std::string> ReviewVersionsOf(const Value& list) {
  std::vector<std::string> versions;
  for (const Value& item : list.items()) versions.emplace_back(item.AsString());
  return versions;
}

Result<meta::LabelSelector> SelectorOf(const Value& selector) {
  return selector.is_null() ? meta::LabelSelector() : meta::LabelSelectorAsSelector(selector);
}

// A service's port is 443 by default, as in admissionregistration/v1.
client::WebhookClientConfig ClientConfigOf(const Value& config) {
  client::WebhookClientConfig made{.url = std::string(config["url"].AsString())};
  if (const Value service = config["service"]; service.is_map()) {
    made.service =
        client::WebhookService{.namespace_ = std::string(service["namespace"].AsString()),
                               .name = std::string(service["name"].AsString()),
                               .path = std::string(service["path"].AsString()),
                               .port = static_cast<int>(service["port"].AsInt(443))};
  }
  // The value is bytes if the kind is known, base64 if it is not.
  const Value bundle = config["caBundle"];
  if (bundle.type() == Value::Type::kBytes) made.ca_bundle = bundle.AsString();
  if (bundle.is_string()) {
    // A value that is no base64 is no authority either: the call fails instead of trusting another
    // one.
    made.ca_bundle = text::DecodeBase64(bundle.AsString()).value_or("malformed");
  }
  return made;
}

// Absent fields read as the defaults of admissionregistration/v1, which the API sets when it
// stores.
Webhook WebhookOf(const Value& value, WebhookType type, std::string_view configuration) {
  Webhook webhook{.type = type,
                  .configuration = std::string(configuration),
                  .name = std::string(value["name"].AsString()),
                  .client_config = ClientConfigOf(value["clientConfig"])};
  for (const Value& rule : value["rules"].items()) webhook.rules.push_back(RuleOf(rule));
  webhook.fail_open = value["failurePolicy"].AsString() == "Ignore";
  webhook.equivalent = value["matchPolicy"].AsString() != "Exact";
  webhook.namespace_selector = SelectorOf(value["namespaceSelector"]);
  webhook.object_selector = SelectorOf(value["objectSelector"]);
  webhook.side_effects = value["sideEffects"].AsString();
  webhook.timeout = std::chrono::seconds(value["timeoutSeconds"].AsInt(10));
  webhook.review_versions = ReviewVersionsOf(value["admissionReviewVersions"]);
  webhook.reinvoke_if_needed = value["reinvocationPolicy"].AsString() == "IfNeeded";
  for (const Value& condition : value["matchConditions"].items()) {
    webhook.match_conditions.push_back(
        {.name = std::string(condition["name"].AsString()),
         .expression = std::string(condition["expression"].AsString())});
  }
  return webhook;
}

}  // namespace

Webhooks WebhooksOf(const runtime::Object& configuration, WebhookType type) {
  Webhooks webhooks;
  // Objects older than the rule that names are unique may have some twice.
  std::map<std::string, int> names;
  for (const Value& value : configuration["webhooks"].items()) {
    Webhook webhook = WebhookOf(value, type, configuration.name());
    const int count = names[webhook.name]++;
    webhook.uid = webhook.configuration + "/" + webhook.name + "/" + std::to_string(count);
    webhooks.push_back(std::move(webhook));
  }
  CompileMatchConditions(webhooks);
  return webhooks;
}

}  // namespace apiserver::v0::admission
