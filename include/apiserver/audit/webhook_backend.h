#pragma once

#include <chrono>
#include <cstddef>

#include "apiserver/audit/backend.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client_config.h"
#include "apiserver/client/http_client.h"

// Sends events to another server: k8s.io/apiserver/plugin/pkg/audit/webhook.
namespace apiserver::inline v0::audit {

// Options of the webhook backend.
struct WebhookBackendOptions {
  client::ClientConfig config = {};           // Its `server` is the URL.
  client::HttpClientFactory new_client = {};  // Null: client::NewHttpClientFactory().
  // The pause after the first failure; longer by half after each, five attempts in all. Every
  // failure is retried, since hardly any justifies losing events.
  std::chrono::milliseconds initial_backoff = std::chrono::seconds(10);
  // The most bytes in flight; events over it are dropped and counted. Not in Go.
  std::size_t in_flight_bytes_max = 64 << 20;
  FileSystem* files = &RealFileSystem();
  Random* random = &SecureRandom();
  const Clock* clock = &RealClock();
};
// POSTs each batch as an EventList, without a thread that waits. On its own it holds every request;
// behind NewBufferedBackend it holds none. kInvalid: TLS material or files that cannot be read.
Result<BackendPtr> NewWebhookBackend(const WebhookBackendOptions& options);

}  // namespace apiserver::inline v0::audit
