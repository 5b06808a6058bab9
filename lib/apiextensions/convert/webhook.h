#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admission/webhook/clients.h"
#include "apiextensions/convert/cache.h"
#include "apiextensions/convert/metrics.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/random.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/http_client.h"
#include "apiserver/client/webhook_config.h"
#include "apiserver/client/webhook_users.h"
#include "apiserver/runtime/convert.h"

namespace apiserver::inline v0::apiextensions {

// How a CustomResourceDefinition's objects are converted: spec.conversion.webhook.
struct ConversionWebhook {
  client::WebhookClientConfig client_config = {};
  std::vector<std::string> review_versions = {};  // In the webhook's order of preference.

  // Compares what is called and how.
  friend bool operator==(const ConversionWebhook& a, const ConversionWebhook& b);
};
// Reads spec.conversion of a CustomResourceDefinition of v1 whose strategy is Webhook. A CA bundle
// of white space counts as none.
ConversionWebhook ConversionWebhookOf(const runtime::Value& conversion);

// The options that all conversion webhooks of a server share.
struct ConversionOptions {
  // Makes the clients for webhooks. Null: client::NewHttpClientFactory().
  client::HttpClientFactory new_client = nullptr;
  // The users that webhooks are called as. Null: they are called without credentials.
  std::shared_ptr<const client::WebhookUsers> users = nullptr;
  // Required with `users`, see admission::WebhookAdmissionOptions.
  Executor* executor = nullptr;
  FileSystem* files = &RealFileSystem();
  // Finds the addresses of services. Must outlive the converters.
  const client::ServiceResolver* resolver = &client::DefaultServiceResolver();
  // Counts kept results as encodings. Null: no results are kept.
  std::shared_ptr<MemoryBudget> memory = nullptr;
  std::shared_ptr<metrics::Registry> metrics = nullptr;  // Required.
  // The longest time of one call.
  std::chrono::seconds timeout = std::chrono::seconds(30);
  // Limits an answer; a longer one fails the call.
  std::size_t response_bytes_max = std::size_t{32} << 20;
  // Limits the JSON of the objects of one call. More objects take several calls, one after the
  // other; an object that is larger alone is sent alone.
  std::size_t request_bytes_max = std::size_t{8} << 20;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();
};

// Calls the conversion webhooks of one server. Any thread.
class ConversionCaller {
 public:
  // The objects that `options` point to must outlive it.
  explicit ConversionCaller(const ConversionOptions& options);

  // Objects to convert in one call, and the kind they are of.
  struct Request {
    std::string_view crd;  // "foos.example.com".
    const ConversionWebhook& webhook;
    ConversionBatch batch;
    std::span<const runtime::Value> originals;  // Whole objects.
    std::span<const std::string_view> json;     // The same as text.
  };
  // Converts the objects, for which it blocks until there is an answer, the time is over or `ctx`
  // is done. Returns the outcome of each object: an answer that is wrong for one may be right for
  // the others.
  std::vector<Conversion::Outcome> Call(const Context& ctx, const Request& request);

  const ConversionOptions& options() const { return options_; }
  // The share of kept results. Null: none is kept.
  std::shared_ptr<EvictingShare> share() const;

 private:
  // Returns the body of the webhook's answer, or an error without prefix.
  Result<std::string> Post(const Context& ctx, const ConversionWebhook& webhook, std::string json);
  // Returns the outcomes; `failure` is set if one is an error.
  std::vector<Conversion::Outcome> Outcomes(const Context& ctx, const Request& request,
                                            std::optional<ConversionFailure>& failure);

  const ConversionOptions options_;
  admission::WebhookClients clients_;
  ConversionMetrics metrics_;
};

// Converts the objects of one CustomResourceDefinition by its webhook: all objects of a list or of
// a turn of a watch in one call. The same object is converted to a version once, whoever asks for
// it and how many at a time; other results are forgotten first when memory is short.
class WebhookConverter final : public runtime::VersionConverter {
 public:
  // `crd` is the definition's name, for metrics.
  WebhookConverter(std::shared_ptr<ConversionCaller> caller, std::string crd,
                   ConversionWebhook webhook);

  // Calls `webhook` from now on. Results of another webhook are forgotten; calls that are running
  // end as they began.
  void Swap(ConversionWebhook webhook);

  Status Convert(const Context& ctx, std::span<runtime::Object* const> objects,
                 std::string_view version) const override;
  bool may_wait() const override { return true; }

 private:
  // A webhook and the results that it has returned.
  struct Current {
    Current(ConversionWebhook called, std::shared_ptr<EvictingShare> share)
        : webhook(std::move(called)), cache(std::move(share)) {}
    const ConversionWebhook webhook;
    ConversionCache cache;
  };
  class Work;

  const std::shared_ptr<ConversionCaller> caller_;
  const std::string crd_;
  Guarded<std::shared_ptr<Current>> current_;
};

}  // namespace apiserver::inline v0::apiextensions
