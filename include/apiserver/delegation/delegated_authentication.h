#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/authn/request_header.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/random.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client_config.h"
#include "apiserver/client/http_client.h"
#include "apiserver/server/server.h"

// Authentication left to a cluster: k8s.io/apiserver/pkg/server/options,
// DelegatingAuthenticationOptions. What is not given is looked up in the cluster's ConfigMap
// kube-system/extension-apiserver-authentication, and followed there.
namespace apiserver::inline v0::delegation {

struct DelegatedAuthenticationOptions {
  // --authentication-kubeconfig: the cluster, as a user who may read the ConfigMap and create
  // TokenReviews.
  std::string kubeconfig_file = "";
  // The same where there is no file: of a pod client::InClusterClientConfig. With neither, nothing
  // is looked up, and tokens say nothing.
  std::optional<client::ClientConfig> cluster = std::nullopt;
  // Calls the cluster for TokenReviews. Null: client::NewHttpClientFactory().
  client::HttpClientFactory http_client = nullptr;

  // --client-ca-file: PEM; empty: the ConfigMap's.
  std::string client_ca_file = "";
  // --requestheader-client-ca-file: PEM; empty: the ConfigMap's, and so is what follows.
  std::string request_header_ca_file = "";
  std::vector<std::string> request_header_allowed_names = {};  // --requestheader-allowed-names
  authn::RequestHeaderNames request_header_names = {};         // --requestheader-*-headers…

  bool skip_lookup = false;              // --authentication-skip-lookup
  bool tolerate_lookup_failure = false;  // --authentication-tolerate-lookup-failure
  // --authentication-token-webhook-cache-ttl
  std::chrono::milliseconds token_cache_ttl = std::chrono::seconds(10);
  std::chrono::milliseconds token_review_timeout = std::chrono::seconds(10);
  bool anonymous = false;  // As authn::DelegatingOptions.
  std::vector<std::string> anonymous_paths = {};
  std::vector<std::string> api_audiences = {};  // As server::Config.

  std::chrono::milliseconds file_period = std::chrono::minutes(1);  // How often files are read.
  // Required. Reads files, and waits between attempts at a call; must be one that may block, and
  // outlive the server and what it calls.
  Executor* executor = nullptr;
  FileSystem* file_system = &RealFileSystem();
  // Counts of token reviews and certificates go there; null: a registry of its own. Apply() makes
  // it the server's.
  std::shared_ptr<metrics::Registry> metrics = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();
};

// Immutable once made; may be copied. Authorities and headers are kept up to date as long as the
// authenticator lives.
struct DelegatedAuthentication {
  std::shared_ptr<const auth::Authenticator> authenticator;
  // Null: no front proxies.
  authn::RequestHeaderNamesSource request_headers;
  // Authorities of users and front proxies in one, for the handshake.
  std::shared_ptr<const Source<std::string>> client_ca;
  std::vector<std::string> api_audiences;
  std::shared_ptr<metrics::Registry> metrics;

  // Sets the fields of these names.
  void Apply(server::Config& config) const;
  // Puts it before what `config` has already, for a server that also knows users of its own: it is
  // asked first, whom it does not know config.authenticator may, and clients are offered the
  // authorities of both. Sets request_headers; leaves audiences and metrics.
  void PutBefore(server::Config& config) const;
};

// Reads files and asks the cluster, so it waits. Each error is one that stops a start, and names
// flag or file and remedy:
// kInvalid: options, a file or the kubeconfig cannot be used. kForbidden: the cluster does not let
// the server read the ConfigMap; the RoleBinding that lets it follows as YAML. Others: the cluster
// did not answer. With tolerate_lookup_failure what concerns the ConfigMap is logged instead, and
// what it says counts once it can be read.
Result<DelegatedAuthentication> NewDelegatedAuthentication(
    const Context& ctx, const DelegatedAuthenticationOptions& options);

}  // namespace apiserver::inline v0::delegation
