#include "apiserver/authn/x509.h"

#include <utility>

#include "authn/client_certificates.h"
#include "base/status_macros.h"

namespace apiserver::v0::authn {
namespace {

// Buckets in seconds, to 360 days; as Go's clientCertificateExpirationHistogram.
metrics::Histogram* ExpirationOf(metrics::Registry* registry) {
  if (registry == nullptr) return nullptr;
  return &registry
              ->Histograms({.name = "apiserver_client_certificate_expiration_seconds",
                            .help = "[ALPHA] Distribution of the remaining lifetime on the "
                                    "certificate used to authenticate a request.",
                            .labels = {}},
                           {0, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 345600, 604800,
                            2592000, 7776000, 15552000, 31104000})
              .With({});
}

class X509Authenticator final : public auth::Authenticator {
 public:
  explicit X509Authenticator(ClientCertificates::Options options)
      : certificates_(std::move(options)) {}

  Result<std::optional<auth::AuthenticateResponse>> Authenticate(
      const Context&, const http::Request& request) const override {
    ASSIGN_OR_RETURN(const auto certificate, certificates_.Verify(request));
    if (certificate == nullptr) return std::optional<auth::AuthenticateResponse>();
    return certificate->user;
  }

 private:
  const ClientCertificates certificates_;
};

}  // namespace

Result<std::unique_ptr<auth::Authenticator>> NewX509(const X509Options& options) {
  std::shared_ptr<const Source<std::string>> ca = options.ca;
  if (ca == nullptr) {
    RETURN_IF_ERROR(CheckBundle(options.ca_pem));
    ca = std::make_shared<Variable<std::string>>(options.ca_pem);
  }
  return std::make_unique<X509Authenticator>(
      ClientCertificates::Options{.ca = std::move(ca),
                                  .clock = options.clock,
                                  .connections_max = options.connections_max,
                                  .expiration = ExpirationOf(options.metrics)});
}

Status CheckCertificateBundle(const std::string& pem) { return CheckBundle(pem); }

}  // namespace apiserver::v0::authn
