#include "storage/etcd/shown_certificates.h"

#include <memory>
#include <utility>

#include "apiserver/http/dialer.h"
#include "storage/etcd/client.h"

namespace apiserver::v0::storage::etcd {
namespace {

using Facts = std::optional<http::CertificateFacts>;

// Returns the own certificate of a server that has shaken hands.
Facts OwnOf(const Result<std::unique_ptr<http::Connection>>& dialled) {
  if (!dialled.ok()) return std::nullopt;
  const auto shown = (*dialled)->ServerCertificates();
  if (shown == nullptr) return std::nullopt;
  auto facts = http::DescribeCertificates(*shown);
  if (!facts.ok()) return std::nullopt;
  return std::move(facts->front());
}

}  // namespace

std::vector<Facts> ShownCertificates(const HttpRpcOptions& transport,
                                     std::chrono::milliseconds timeout) {
  // Nothing is verified: one that has expired is what is looked for.
  http::ClientTls tls{.server_name = transport.tls.server_name, .client = transport.tls.client};
  std::vector<std::shared_ptr<Pending<Facts>>> shown;
  const auto dialer = http::NewDialer();
  for (const Endpoint& endpoint : transport.endpoints) {
    const auto& pending = shown.emplace_back(std::make_shared<Pending<Facts>>());
    if (!endpoint.tls) {
      pending->Set(Facts());
      continue;
    }
    // The dial ends by itself after the timeout.
    (void)dialer->DialLater(
        {.host = endpoint.host, .port = endpoint.port, .tls = tls, .connect_timeout = timeout},
        [pending](Result<std::unique_ptr<http::Connection>> dialled) {
          pending->Set(OwnOf(dialled));
        });
  }
  std::vector<Facts> facts;
  const Clock::Monotonic deadline = RealClock().Now() + timeout;
  for (const auto& each : shown) {
    const auto told = each->WaitUntil(deadline);
    facts.push_back(told.ok() ? *told : std::nullopt);
  }
  return facts;
}

}  // namespace apiserver::v0::storage::etcd
