#include "admission/webhook/clients.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/status_macros.h"

namespace apiserver::inline v0::admission {

namespace {

Status Unreachable(std::string why) { return {Reason::kInvalid, std::move(why)}; }

// "https://host:port" and the path, cleaned as client-go does: no slash at the end.
std::pair<std::string, std::string> SplitUrl(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t slash = url.find('/', host);
  std::string_view path = slash == std::string_view::npos ? "" : url.substr(slash);
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return {std::string(url.substr(0, slash)), path.empty() ? "/" : std::string(path)};
}

}  // namespace

Result<std::shared_ptr<client::HttpClient>> WebhookClients::ClientFor(
    const std::string& key, const client::HttpClientOptions& options) {
  {
    auto clients = clients_.Lock();
    const auto at = std::ranges::find(*clients, key, &Entry::key);
    if (at != clients->end()) {
      clients->splice(clients->begin(), *clients, at);
      return at->client;
    }
  }
  if (!factory_) return Unreachable("this server was built without an HTTP client");
  ASSIGN_OR_RETURN(std::shared_ptr<client::HttpClient> client, factory_(options));
  auto clients = clients_.Lock();
  clients->push_front({key, client});
  if (clients->size() > kClientsMax) clients->pop_back();
  return client;
}

Result<WebhookAddress> WebhookClients::For(const Webhook& webhook) {
  ASSIGN_OR_RETURN(client::WebhookTarget target,
                   client::TargetOf(webhook.client_config, resolver_));
  target.options.response_bytes_max = response_bytes_max_;
  const auto [origin, path] = SplitUrl(target.url);
  std::string key = origin;
  key.append("\n").append(target.options.address).append("\n").append(target.options.tls.ca_pem);
  ASSIGN_OR_RETURN(auto client, ClientFor(key, target.options));
  return WebhookAddress{.url = origin + path, .client = std::move(client)};
}

}  // namespace apiserver::inline v0::admission
