#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/aggregator/aggregator_options.h"
#include "apiserver/aggregator/cluster_authentication.h"
#include "apiserver/aggregator/services.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/delegation/doctor.h"
#include "apiserver/discovery/defined_versions.h"
#include "apiserver/http/dialer.h"
#include "apiserver/http/tls.h"
#include "apiserver/options/recommended.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"

namespace kube {

// The aggregator of a server: APIServices, whose extension servers are Services of the server and
// know its front proxy by the ConfigMap extension-apiserver-authentication. It must outlive the
// server.
class Aggregation {
 public:
  void AddFlags(apiserver::options::FlagSet& flags) { flags_.AddFlags(flags); }
  // Reads the authority of the front proxy from the folder, or makes it there, unless flags tell of
  // a certificate.
  apiserver::Status Open(const std::string& folder);
  // Fails with the first mistake in the flags.
  apiserver::Status Validate() const { return flags_.Validate(); }
  // Looks at the certificate that flags name.
  void Examine(std::vector<apiserver::delegation::Finding>& findings) const;
  // Takes note of the front proxies that the server trusts.
  void Complete(const apiserver::options::RecommendedOptions& options) {
    trusted_ = options.authentication.values;
  }
  // Takes note of the authorities of users.
  void Configure(const apiserver::server::Config& config) {
    user_ca_ = config.user_ca;
    log_ = config.log;
  }
  // Serves APIServices, also of what is defined; the server has Services and EndpointSlices.
  apiserver::Status Install(apiserver::server::GenericAPIServer& server,
                            const apiserver::registry::StorageConfig& storage,
                            std::shared_ptr<apiserver::discovery::DefinedVersions> definitions);

 private:
  apiserver::aggregator::ClusterAuthentication Authentication() const;
  std::string GivenAuthorities() const;

  apiserver::aggregator::AggregatorOptions flags_;
  apiserver::delegation::DelegatedAuthenticationOptions trusted_;
  apiserver::LogSink* log_ = &apiserver::NullLogSink();
  const std::unique_ptr<apiserver::http::Dialer> dialer_ = apiserver::http::NewDialer();
  const std::shared_ptr<apiserver::aggregator::InformedServices> services_ =
      apiserver::aggregator::NewInformedServices();
  std::shared_ptr<const apiserver::Source<std::string>> user_ca_;
  apiserver::http::KeyPair authority_;  // Empty: flags tell of a certificate.
  // The last contents read from --requestheader-client-ca-file.
  mutable apiserver::Guarded<std::string> given_authorities_;
  std::shared_ptr<const apiserver::Source<apiserver::http::KeyPair>> proxy_client_;
};

}  // namespace kube
