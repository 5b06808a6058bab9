#include "admission/webhook/clients.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/from_text.h"
#include "base/status_macros.h"
#include "text/go_url.h"

namespace apiserver::v0::admission {

namespace {

Status Unreachable(std::string why) { return {Reason::kInvalid, std::move(why)}; }

// Returns the path without a slash at the end, as client-go cleans it.
std::string PathOf(const text::GoUrl& url) {
  std::string path = url.EscapedPath();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path.empty() ? "/" : path;
}

// Returns host and port of "https://host:port", with the port of https if there is none.
std::string HostPort(std::string_view origin) {
  std::string host(origin.substr(origin.find("://") + 3));
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.find(':', bracket == std::string::npos ? 0 : bracket);
  return colon == std::string::npos ? host + ":443" : host;
}

}  // namespace

// The key of credentials is host and port, as in Go's AuthenticationInfoResolver.
Result<std::shared_ptr<client::HttpClient>> WebhookClients::NewClient(
    const std::string& origin, const client::HttpClientOptions& options) const {
  const client::ClientConfig* const user = users_ ? users_->For(HostPort(origin)) : nullptr;
  if (user == nullptr) return factory_(options);
  if (!origin.starts_with("https://")) {
    return Unreachable("credentials are only for webhooks over https, not for " + origin);
  }
  if (deps_.executor == nullptr) return Unreachable("users of webhooks need an executor");
  client::ClientConfig config = *user;
  config.server = origin;
  // A webhook's own authorities replace those of the kubeconfig; its identity stays.
  if (!options.tls.ca_pem.empty()) {
    config.ca_file.clear();
    config.ca_pem = options.tls.ca_pem;
  }
  config.server_name = options.tls.server_name;
  client::FollowedClientDeps deps = deps_;
  // The address is the same for every identity that is read.
  deps.new_client = [factory = factory_, options](const client::HttpClientOptions& identity) {
    client::HttpClientOptions merged = options;
    merged.tls = identity.tls;
    return factory(merged);
  };
  return client::NewFollowedClient(config, deps);
}

// Clients are shared by webhooks with the same server, so that these share its connections.
Result<std::shared_ptr<client::HttpClient>> WebhookClients::ClientFor(
    const std::string& origin, const client::HttpClientOptions& options) {
  const std::string key = origin + "\n" + options.address + "\n" + options.tls.ca_pem;
  {
    auto clients = clients_.Lock();
    const auto at = std::ranges::find(*clients, key, &Entry::key);
    if (at != clients->end()) {
      // The most recently used client moves to the front, so the last one is dropped first.
      clients->splice(clients->begin(), *clients, at);
      return at->client;
    }
  }
  // Made without the lock, since files may have to be read. Two threads may both make a client; the
  // second entry of a key is dropped in its turn.
  ASSIGN_OR_RETURN(std::shared_ptr<client::HttpClient> client, NewClient(origin, options));
  Entry dropped;  // Destroyed after the lock is released.
  auto clients = clients_.Lock();
  clients->push_front({key, client});
  if (clients->size() > kClientsMax) {
    dropped = std::move(clients->back());
    clients->pop_back();
  }
  return client;
}

Result<WebhookAddress> WebhookClients::For(const client::WebhookClientConfig& config) {
  ASSIGN_OR_RETURN(client::WebhookTarget target, client::TargetOf(config, resolver_));
  target.options.response_bytes_max = response_bytes_max_;
  ASSIGN_OR_RETURN(const text::GoUrl url, FromText(text::ParseGoUrl(target.url), Reason::kInvalid));
  const std::string origin = text::GoUrl{.scheme = url.scheme, .host = url.host}.String();
  ASSIGN_OR_RETURN(auto client, ClientFor(origin, target.options));
  return WebhookAddress{.url = origin + PathOf(url), .client = std::move(client)};
}

}  // namespace apiserver::v0::admission
