#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/admission/webhook.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/http_client.h"
#include "apiserver/client/webhook_config.h"

namespace apiserver::inline v0::admission {

// How a webhook is reached.
struct WebhookAddress {
  std::string url;  // Without query.
  std::shared_ptr<client::HttpClient> client;
};

// One client for each place and authority, so that connections are kept. Any thread.
class WebhookClients {
 public:
  // `resolver` outlives it.
  WebhookClients(client::HttpClientFactory factory, const client::ServiceResolver& resolver,
                 std::size_t response_bytes_max)
      : factory_(std::move(factory)),
        resolver_(resolver),
        response_bytes_max_(response_bytes_max) {}

  // kInvalid: it has neither URL nor service, or its authority cannot be read. Other errors are the
  // resolver's.
  Result<WebhookAddress> For(const Webhook& webhook);

 private:
  // As in Go; beyond, the one that was used longest ago is dropped.
  static constexpr std::size_t kClientsMax = 200;
  struct Entry {
    std::string key;
    std::shared_ptr<client::HttpClient> client;
  };

  Result<std::shared_ptr<client::HttpClient>> ClientFor(const std::string& key,
                                                        const client::HttpClientOptions& options);

  const client::HttpClientFactory factory_;
  const client::ServiceResolver& resolver_;
  const std::size_t response_bytes_max_;
  Guarded<std::list<Entry>> clients_;  // The last used first.
};

}  // namespace apiserver::inline v0::admission
