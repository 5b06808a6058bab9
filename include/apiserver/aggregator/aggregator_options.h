#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "apiserver/aggregator/proxy_handler.h"
#include "apiserver/aggregator/services.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"
#include "apiserver/http/tls.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/server/server.h"

// kube-apiserver's flags of the aggregator: k8s.io/kubernetes/cmd/kube-apiserver/app/options.
namespace apiserver::inline v0::aggregator {

// The values of the flags, with their defaults.
struct AggregatorOptions {
  // PEM files of the certificate by which extension servers know this server as a front proxy, and
  // of its key. Empty: no flag names them, and the host may show a certificate of its own.
  std::string proxy_client_cert_file = {};
  std::string proxy_client_key_file = {};
  // Sends requests to an endpoint of an extension server's service instead of its cluster IP.
  bool enable_aggregator_routing = false;
  // See Options::reject_forwarding_redirects.
  bool reject_forwarding_redirect = true;
  // How often the files are read again; no flag sets it.
  std::chrono::milliseconds reload_period = std::chrono::minutes(1);

  // Set by AddFlags: --enable-aggregator-routing, for which false is not the same as absent.
  options::FlagPtr routing = nullptr;

  // Adds the flags. They are read into this object, which must outlive the reading.
  void AddFlags(options::FlagSet& flags);
  // kInvalid: a certificate is given without its key, or the reverse; the message names the flags.
  Status Validate() const;

  // Reads the certificate and its key. The post-start hook aggregator-reload-proxy-client-cert then
  // follows the files until `server` shuts down: connections that are made after a change show the
  // new one. Called before PrepareRun. An error names the flags. Null: there are no files, and no
  // hook. `log` and `files` must outlive the server.
  Result<std::shared_ptr<const Source<http::KeyPair>>> FollowProxyClient(
      server::GenericAPIServer& server, LogSink& log = NullLogSink(),
      FileSystem& files = RealFileSystem()) const;

  // Returns the resolver that --enable-aggregator-routing asks for: NewEndpointServiceResolver(),
  // or NewClusterIPServiceResolver() for an explicit false, which needs a kube-proxy. Without the
  // flag it is NewReachableServiceResolver().
  std::shared_ptr<const ServiceResolver> NewResolver(
      std::shared_ptr<const Services> services) const;
};

}  // namespace apiserver::inline v0::aggregator
