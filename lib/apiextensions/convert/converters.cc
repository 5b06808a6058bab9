#include "apiextensions/convert/converters.h"

#include <algorithm>
#include <utility>

#include "apiserver/base/field_path.h"

namespace apiserver::v0::apiextensions {

// A definition without a conversion has the default, None.
Result<std::shared_ptr<const runtime::VersionConverter>> Converters::For(
    const runtime::Value& definition) {
  const runtime::Value conversion = definition["spec"]["conversion"];
  const std::string_view strategy = conversion["strategy"].AsString();
  const runtime::Value metadata = definition["metadata"];
  std::string name(metadata["name"].AsString());
  if (strategy.empty() || strategy == "None") return none_;
  if (strategy != "Webhook") {
    return Status(Reason::kInternalError, "unknown conversion strategy " +
                                              field::QuoteShort(strategy) + " for CRD " + name);
  }
  ConversionWebhook webhook = ConversionWebhookOf(conversion);
  auto state = state_.Lock();
  if (state->converters.size() >= state->sweep_at) {
    std::erase_if(state->converters, [](const auto& entry) { return entry.second.expired(); });
    state->sweep_at = std::max(kSweepMin, 2 * state->converters.size());
  }
  std::weak_ptr<WebhookConverter>& known =
      state->converters[std::string(metadata["uid"].AsString())];
  std::shared_ptr<WebhookConverter> converter = known.lock();
  if (converter != nullptr) {
    converter->Swap(std::move(webhook));
  } else {
    converter = std::make_shared<WebhookConverter>(caller_, std::move(name), std::move(webhook));
    known = converter;
  }
  return std::shared_ptr<const runtime::VersionConverter>(std::move(converter));
}

}  // namespace apiserver::v0::apiextensions
