#include "apiextensions/convert/webhook.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "apiserver/base/trace.h"
#include "apiserver/codec/json.h"
#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"
#include "client/webhook_answer.h"
#include "text/base64.h"

namespace apiserver::v0::apiextensions {

namespace {

using runtime::Value;

// Returns the bytes of a CA bundle. Upstream takes white space for no bundle.
std::string ConversionBundleOf(const Value& value) {
  std::string bundle;
  if (value.type() == Value::Type::kBytes) bundle = value.AsString();
  if (value.is_string()) {
    // A value that is no base64 is no authority either: the call fails instead of trusting another
    // one.
    bundle = text::DecodeBase64(value.AsString()).value_or("malformed");
  }
  const bool blank = bundle.find_first_not_of(" \t\r\n\v\f") == std::string::npos;
  return blank ? std::string() : bundle;
}

// Returns the object with kind and apiVersion, sharing its content.
Value WholeObject(const runtime::Object& object, runtime::Arena& arena) {
  runtime::MapBuilder whole(arena);
  whole.Add("apiVersion", Value::String(arena.Copy(object.gvk().group_version().ToString())));
  whole.Add("kind", Value::String(object.kind().kind()));
  for (const runtime::Member& member : object.root().members()) {
    if (member.key != "apiVersion" && member.key != "kind") whole.Add(member.key, member.value);
  }
  return whole.Build();
}

// Returns a content with memory of its own, since the answer is dropped.
ConvertedContentPtr OwnContent(const Value& root) {
  auto content = std::make_shared<ConvertedContent>();
  content->root = Copy(root, content->arena);
  return content;
}

std::string ConversionTimeoutText(std::chrono::milliseconds time) {
  return std::to_string((time.count() + 999) / 1000) + "s";
}

}  // namespace

bool operator==(const ConversionWebhook& a, const ConversionWebhook& b) {
  const auto same_service = [](const auto& x, const auto& y) {
    if (x.has_value() != y.has_value()) return false;
    return !x || (x->namespace_ == y->namespace_ && x->name == y->name && x->path == y->path &&
                  x->port == y->port);
  };
  return a.client_config.url == b.client_config.url &&
         a.client_config.ca_bundle == b.client_config.ca_bundle &&
         same_service(a.client_config.service, b.client_config.service) &&
         a.review_versions == b.review_versions;
}

ConversionWebhook ConversionWebhookOf(const Value& conversion) {
  const Value webhook = conversion["webhook"];
  const Value config = webhook["clientConfig"];
  ConversionWebhook made;
  made.client_config.url = config["url"].AsString();
  made.client_config.ca_bundle = ConversionBundleOf(config["caBundle"]);
  if (const Value service = config["service"]; service.is_map()) {
    made.client_config.service =
        client::WebhookService{.namespace_ = std::string(service["namespace"].AsString()),
                               .name = std::string(service["name"].AsString()),
                               .path = std::string(service["path"].AsString()),
                               .port = static_cast<int>(service["port"].AsInt(443))};
  }
  for (const Value& version : webhook["conversionReviewVersions"].items()) {
    made.review_versions.emplace_back(version.AsString());
  }
  return made;
}

ConversionCaller::ConversionCaller(const ConversionOptions& options)
    : options_(options),
      clients_(admission::WebhookAdmissionOptions{.new_client = options.new_client,
                                                  .users = options.users,
                                                  .executor = options.executor,
                                                  .files = options.files,
                                                  .resolver = options.resolver,
                                                  .response_bytes_max = options.response_bytes_max,
                                                  .clock = options.clock,
                                                  .log = options.log}),
      metrics_(*options.metrics) {}

std::shared_ptr<EvictingShare> ConversionCaller::share() const {
  if (options_.memory == nullptr) return nullptr;
  return {options_.memory, &options_.memory->encodings};
}

// There are no retries: the client that waits may try again.
Result<std::string> ConversionCaller::Post(const Context& ctx, const ConversionWebhook& webhook,
                                           std::string json) {
  ASSIGN_OR_RETURN(const admission::WebhookAddress address, clients_.For(webhook.client_config));
  std::chrono::milliseconds time = options_.timeout;
  client::HttpRequest request{.method = "POST",
                              .url = address.url + "?timeout=" + ConversionTimeoutText(time),
                              .headers = {{"Content-Type", "application/json"},
                                          {"Accept", "application/json"},
                                          {"User-Agent", "kube-apiserver-admission"}},
                              .body = std::move(json)};
  if (const auto deadline = ctx.deadline()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - options_.clock->Now());
    time = std::min(time, left);
  }
  const Status late(Reason::kTimeout, "late");
  if (time.count() <= 0) return late.WithMessage(client::TransportError(request.url, late));
  request.timeout = time;
  const std::string url = request.url;
  Result<http::ClientResponse> response = address.client->Call(ctx, std::move(request));
  if (!response.ok()) {
    return response.status().WithMessage(client::TransportError(url, response.status()));
  }
  RETURN_IF_ERROR(client::ErrorOfAnswer(*response));
  RETURN_IF_ERROR(client::CheckWebhookBody(*response));
  return std::move(response->body);
}

std::vector<Conversion::Outcome> ConversionCaller::Outcomes(
    const Context& ctx, const Request& request, std::optional<ConversionFailure>& failure) {
  const ConversionBatch& batch = request.batch;
  const auto all = [&](const Status& status) {
    return std::vector<Conversion::Outcome>(batch.count, status);
  };
  const auto failed = [&](ConversionFailure type, const Status& why) {
    failure = type;
    return all(batch.Error("failed: " + std::string(why.message())));
  };
  Result<std::string> version = ReviewVersionOf(request.webhook.review_versions);
  if (!version.ok()) {
    failure = ConversionFailure::kCall;
    return all(version.status());
  }
  ConversionReview review =
      NewConversionReview(*std::move(version), NewUuid(*options_.random), batch.to, request.json);
  const Result<std::string> body = Post(ctx, request.webhook, std::exchange(review.json, {}));
  if (!body.ok()) return failed(ConversionFailure::kCall, body.status());
  runtime::Arena arena;
  const Result<Value> answer = client::DecodeWebhookAnswer(*body, arena);
  if (!answer.ok()) return failed(ConversionFailure::kCall, answer.status());
  const Result<std::vector<Value>> converted = ConvertedObjectsOf(review, *answer);
  if (!converted.ok()) return failed(ConversionFailure::kMalformedResponse, converted.status());
  if (converted->size() != batch.count) {
    failure = ConversionFailure::kPartialResponse;
    return all(batch.Error("returned " + std::to_string(converted->size()) + " objects, expected " +
                           std::to_string(batch.count)));
  }
  std::vector<Conversion::Outcome> outcomes;
  for (std::size_t i = 0; i < batch.count; ++i) {
    const Result<Value> content =
        AcceptConverted(batch, i, request.originals[i], (*converted)[i], arena);
    if (!content.ok()) failure = ConversionFailure::kInvalidConvertedObject;
    outcomes.push_back(content.ok() ? Conversion::Outcome(OwnContent(*content)) : content.status());
  }
  return outcomes;
}

std::vector<Conversion::Outcome> ConversionCaller::Call(const Context& ctx,
                                                        const Request& request) {
  trace::ScopedSpan span(ctx, "Call conversion webhook");
  span.span().SetAttribute("custom-resource-definition", std::string(request.crd));
  span.span().SetAttribute("desired-api-version", request.batch.to.ToString());
  span.span().SetAttribute("object-count", static_cast<std::int64_t>(request.batch.count));
  const Clock::Monotonic began = options_.clock->Now();
  std::optional<ConversionFailure> failure;
  std::vector<Conversion::Outcome> outcomes = Outcomes(span.ctx(), request, failure);
  metrics_.Observe({.crd = request.crd,
                    .from_version = request.batch.from.version,
                    .to_version = request.batch.to.version,
                    .failure = failure,
                    .took = options_.clock->Now() - began});
  return outcomes;
}

// The conversion of some objects into one version.
class WebhookConverter::Work {
 public:
  Work(const WebhookConverter& converter, std::shared_ptr<Current> current,
       std::span<runtime::Object* const> objects, std::string_view version)
      : caller_(*converter.caller_),
        crd_(converter.crd_),
        current_(std::move(current)),
        version_(version) {
    for (runtime::Object* const object : objects) Add(*object);
  }

  // Converts all of them. Whoever has waited in vain for another caller makes the call itself.
  Status Run(const Context& ctx) {
    std::vector<Item*> open;
    for (Item& item : items_) open.push_back(&item);
    while (!open.empty()) {
      RETURN_IF_ERROR(Make(ctx, open));
      RETURN_IF_ERROR(AwaitAll(ctx, open));
    }
    return Apply();
  }

 private:
  struct Item {
    runtime::Object* object;
    Value whole;
    std::string json;
    std::string key;
    ConversionCache::Claim claim = {};
    ConvertedContentPtr content = nullptr;
  };
  // Gives up what has not been finished when it is destroyed, so that nobody waits for it.
  class Led {
   public:
    explicit Led(ConversionCache& cache) : cache_(cache) {}
    Led(const Led&) = delete;
    Led& operator=(const Led&) = delete;
    ~Led() {
      for (Item* const item : items) {
        if (item->claim.leads) cache_.GiveUp(item->key, std::exchange(item->claim, {}));
      }
    }
    std::vector<Item*> items;

   private:
    ConversionCache& cache_;
  };

  // An object without content, which converters are tried with, needs no call.
  void Add(runtime::Object& object) {
    if (object.root().size() == 0) {
      object.SetVersion(version_);
      return;
    }
    Item item{.object = &object, .whole = WholeObject(object, arena_), .json = {}, .key = {}};
    codec::AppendJson(item.whole, item.json);
    item.key = ConversionKey(item.json, version_);
    items_.push_back(std::move(item));
  }

  // Takes part in the conversion of each of `open`, and makes those that no one else makes.
  Status Make(const Context& ctx, std::span<Item* const> open) {
    Led led(current_->cache);
    for (Item* const item : open) {
      item->claim = current_->cache.Take(item->key);
      if (item->claim.leads) led.items.push_back(item);
    }
    std::span<Item* const> rest = led.items;
    while (!rest.empty()) {
      const std::size_t count = FirstCall(rest);
      RETURN_IF_ERROR(CallFor(ctx, rest.first(count)));
      rest = rest.subspan(count);
    }
    return {};
  }

  // Returns how many of `items` fit in one call.
  std::size_t FirstCall(std::span<Item* const> items) const {
    std::size_t bytes = 0;
    std::size_t count = 0;
    while (count < items.size()) {
      bytes += items[count]->json.size();
      if (count > 0 && bytes > caller_.options().request_bytes_max) break;
      ++count;
    }
    return count;
  }

  // Returns the first error. The outcome of a caller that has given up is nobody else's.
  Status CallFor(const Context& ctx, std::span<Item* const> items) {
    std::vector<Value> originals;
    std::vector<std::string_view> json;
    for (const Item* const item : items) {
      originals.push_back(item->whole);
      json.push_back(item->json);
    }
    const runtime::Object& first = *items.front()->object;
    std::vector<Conversion::Outcome> outcomes =
        caller_.Call(ctx, {.crd = crd_,
                           .webhook = current_->webhook,
                           .batch = {.from = first.gvk(),
                                     .to = {first.kind().group(), std::string(version_)},
                                     .count = items.size()},
                           .originals = originals,
                           .json = json});
    const bool gave_up = !ctx.Err(*caller_.options().clock).ok();
    Status error;
    for (std::size_t i = 0; i < items.size(); ++i) {
      Item& item = *items[i];
      if (error.ok()) error = outcomes[i].status();
      if (outcomes[i].ok()) item.content = *outcomes[i];
      if (gave_up && !outcomes[i].ok()) continue;
      // An object that is not stored yet is not kept: its content changes when it is.
      const bool keep = !item.whole["metadata"]["resourceVersion"].AsString().empty();
      current_->cache.Finish(item.key, std::exchange(item.claim, {}), std::move(outcomes[i]), keep);
    }
    return error;
  }

  // Waits for the conversion of an object that another caller makes, if it is not converted yet.
  // Puts it into `again` if that caller has given up.
  Status Await(const Context& ctx, Item& item, std::vector<Item*>& again) {
    if (item.content != nullptr) return {};
    std::optional<Conversion::Outcome> outcome =
        item.claim.conversion->Wait(ctx, *caller_.options().clock);
    if (!outcome) {
      RETURN_IF_ERROR(ctx.Err(*caller_.options().clock));
      again.push_back(&item);
      return {};
    }
    RETURN_IF_ERROR(outcome->status());
    item.content = **std::move(outcome);
    return {};
  }

  // Waits for those that other callers make. Leaves in `open` those whose callers have given up.
  Status AwaitAll(const Context& ctx, std::vector<Item*>& open) {
    std::vector<Item*> again;
    for (Item* const item : open) {
      RETURN_IF_ERROR(Await(ctx, *item, again));
    }
    open = std::move(again);
    return {};
  }

  // Puts the contents into the objects, which share them with the cache, and prunes them.
  Status Apply() {
    for (Item& item : items_) {
      runtime::Object& object = *item.object;
      object.arena().Pin(item.content);
      object.SetRoot(item.content->root);
      object.SetVersion(version_);
      const Status settled =
          runtime::Settle(object, {.growth_max = runtime::kPatchedGrowthMax, .defaults = false});
      if (settled.ok()) continue;
      const ConversionBatch batch{.from = object.gvk(), .to = {}};
      return batch.Error("returned invalid object: " + std::string(settled.message()));
    }
    return {};
  }

  ConversionCaller& caller_;
  const std::string& crd_;
  const std::shared_ptr<Current> current_;
  const std::string_view version_;
  runtime::Arena arena_;
  std::vector<Item> items_;
};

WebhookConverter::WebhookConverter(std::shared_ptr<ConversionCaller> caller, std::string crd,
                                   ConversionWebhook webhook)
    : caller_(std::move(caller)),
      crd_(std::move(crd)),
      current_(std::make_shared<Current>(std::move(webhook), caller_->share())) {}

void WebhookConverter::Swap(ConversionWebhook webhook) {
  auto next = std::make_shared<Current>(std::move(webhook), caller_->share());
  auto current = current_.Lock();
  if (!((*current)->webhook == next->webhook)) std::swap(*current, next);
}

Status WebhookConverter::Convert(const Context& ctx, std::span<runtime::Object* const> objects,
                                 std::string_view version) const {
  // The lock ends with this statement: nothing waits for a webhook with a lock held.
  std::shared_ptr<Current> current = *current_.Lock();
  return Work(*this, std::move(current), objects, version).Run(ctx);
}

}  // namespace apiserver::v0::apiextensions
