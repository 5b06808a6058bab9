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

// Authentication delegated to a cluster: k8s.io/apiserver/pkg/server/options,
// DelegatingAuthenticationOptions. Values that are not given are looked up in the cluster's
// ConfigMap kube-system/extension-apiserver-authentication, and followed there.
namespace apiserver::inline v0::delegation {

// The cluster, the values that are not looked up, and the parts of the server to use.
struct DelegatedAuthenticationOptions {
  // --authentication-kubeconfig: the cluster, with a user that may read the ConfigMap and create
  // TokenReviews.
  std::string kubeconfig_file = "";
  // kRefused: a user of that file with a credential plug-in is an error.
  client::ExecPlugIns exec_plug_ins = client::ExecPlugIns::kAllowed;
  // The cluster if there is no file; in a pod client::InClusterClientConfig. If neither is given,
  // there is no lookup, and bearer tokens are not accepted.
  std::optional<client::ClientConfig> cluster = std::nullopt;
  // Makes the clients for TokenReviews. Null: client::NewHttpClientFactory().
  client::HttpClientFactory http_client = nullptr;

  // --client-ca-file: PEM. Empty: the ConfigMap's.
  std::string client_ca_file = "";
  // --requestheader-client-ca-file: PEM. Empty: the ConfigMap's, and so are the two below.
  std::string request_header_ca_file = "";
  std::vector<std::string> request_header_allowed_names = {};  // --requestheader-allowed-names
  authn::RequestHeaderNames request_header_names = {};         // --requestheader-*-headers…

  bool skip_lookup = false;              // --authentication-skip-lookup
  bool tolerate_lookup_failure = false;  // --authentication-tolerate-lookup-failure
  // --authentication-token-webhook-cache-ttl
  std::chrono::milliseconds token_cache_ttl = std::chrono::seconds(10);
  std::chrono::milliseconds token_review_timeout = std::chrono::seconds(10);
  bool anonymous = false;  // The meaning is that of authn::DelegatingOptions.
  std::vector<std::string> anonymous_paths = {};
  std::vector<std::string> api_audiences = {};  // The meaning is that of server::Config.

  // The interval at which files are read.
  std::chrono::milliseconds file_period = std::chrono::minutes(1);
  // Required. Reads files, and waits between attempts at a call: its tasks must be allowed to
  // block. It must outlive the server and its authenticator.
  Executor* executor = nullptr;
  FileSystem* file_system = &RealFileSystem();
  // The registry for token reviews and certificates. Null: a new one. Apply() makes it the
  // server's.
  std::shared_ptr<metrics::Registry> metrics = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();
};

// The result. Immutable once made; may be copied. Authorities and headers are kept up to date as
// long as the authenticator lives.
struct DelegatedAuthentication {
  std::shared_ptr<const auth::Authenticator> authenticator;
  // Null: there are no front proxies.
  authn::RequestHeaderNamesSource request_headers;
  // The authorities of users and front proxies in one, for the handshake.
  std::shared_ptr<const Source<std::string>> client_ca;
  // The authorities of users alone. Null: there are none.
  std::shared_ptr<const Source<std::string>> user_ca;
  std::vector<std::string> api_audiences;
  std::shared_ptr<metrics::Registry> metrics;

  // Sets the fields of these names in `config`.
  void Apply(server::Config& config) const;
  // Adds it in front of the present authenticator, for a server that also has users of its own: it
  // is asked first, then config.authenticator, and clients are offered the authorities of both.
  // Sets request_headers; leaves audiences and metrics.
  void PutBefore(server::Config& config) const;
};

// Reads files and asks the cluster, so it blocks. Each error should stop the start, and names flag
// or file and remedy:
// kInvalid: options, a file or the kubeconfig cannot be used. kForbidden: the cluster does not let
// the server read the ConfigMap; the RoleBinding that allows it follows as YAML. Others: the
// cluster did not answer. With tolerate_lookup_failure an error about the ConfigMap is logged
// instead, and its values are used once it can be read.
Result<DelegatedAuthentication> NewDelegatedAuthentication(
    const Context& ctx, const DelegatedAuthenticationOptions& options);

}  // namespace apiserver::inline v0::delegation
