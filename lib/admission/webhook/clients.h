#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <list>
#include <memory>
#include <string>

#include "apiserver/admission/webhook.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/client_config.h"
#include "apiserver/client/http_client.h"
#include "apiserver/client/pooled_client.h"
#include "apiserver/client/webhook_config.h"
#include "apiserver/client/webhook_users.h"

namespace apiserver::inline v0::admission {

// The address of a webhook.
struct WebhookAddress {
  std::string url;  // Without a query.
  std::shared_ptr<client::HttpClient> client;
};

// The clients of webhooks: one for each address and authority, so that connections are kept. Any
// thread.
class WebhookClients {
 public:
  // The objects that `options` point to must outlive it.
  explicit WebhookClients(const WebhookAdmissionOptions& options)
      : factory_(options.new_client ? options.new_client : client::NewHttpClientFactory()),
        resolver_(*options.resolver),
        response_bytes_max_(options.response_bytes_max),
        users_(options.users),
        deps_({.files = options.files,
               .executor = options.executor,
               .clock = options.clock,
               .log = options.log}) {}

  // Returns the URL and client of a webhook. kInvalid: it has neither URL nor service, or its
  // authority or credentials cannot be read. Other errors are the resolver's.
  Result<WebhookAddress> For(const client::WebhookClientConfig& config);

 private:
  // Limits the clients, as in Go; beyond it the least recently used is dropped.
  static constexpr std::size_t kClientsMax = 200;
  struct Entry {
    std::string key;
    std::shared_ptr<client::HttpClient> client;
  };

  // `origin` is "https://host:port".
  Result<std::shared_ptr<client::HttpClient>> ClientFor(const std::string& origin,
                                                        const client::HttpClientOptions& options);
  Result<std::shared_ptr<client::HttpClient>> NewClient(
      const std::string& origin, const client::HttpClientOptions& options) const;

  const client::HttpClientFactory factory_;
  const client::ServiceResolver& resolver_;
  const std::size_t response_bytes_max_;
  const std::shared_ptr<const client::WebhookUsers> users_;
  const client::FollowedClientDeps deps_;  // All but the factory.
  Guarded<std::list<Entry>> clients_;      // The last used one comes first.
};

}  // namespace apiserver::inline v0::admission
