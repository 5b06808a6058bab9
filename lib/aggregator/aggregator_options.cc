#include "apiserver/aggregator/aggregator_options.h"

#include <utility>

#include "apiserver/base/reload.h"
#include "apiserver/base/sync.h"
#include "base/status_macros.h"

namespace apiserver::v0::aggregator {
namespace {

constexpr char kHook[] = "aggregator-reload-proxy-client-cert";

// A key pair that stands in two files.
class FollowedKeyPair final : public Source<http::KeyPair> {
 public:
  std::shared_ptr<const http::KeyPair> Get() const override { return *pair_.Lock(); }

  Status Read(const AggregatorOptions& options, FileSystem& files) {
    ASSIGN_OR_RETURN(const std::string certificate, files.Read(options.proxy_client_cert_file));
    ASSIGN_OR_RETURN(const std::string key, files.Read(options.proxy_client_key_file));
    return Use(certificate, key);
  }
  // A certificate without its key, which somebody is about to write, is no error: the pair that was
  // read before stays in use.
  Status Start(const AggregatorOptions& options, const WatchedFilesDeps& deps) {
    auto watched =
        WatchFiles({options.proxy_client_cert_file, options.proxy_client_key_file},
                   options.reload_period, deps, [this, first = true](const auto& contents) mutable {
                     Status used = Use(contents.at(0), contents.at(1));
                     return std::exchange(first, false) ? Status() : used;
                   });
    RETURN_IF_ERROR(watched.status());
    *watched_.Lock() = *std::move(watched);
    return {};
  }
  void Stop() { auto watched = std::exchange(*watched_.Lock(), nullptr); }

 private:
  Status Use(const std::string& certificate, const std::string& key) {
    http::KeyPair pair{.certificate_pem = certificate, .key_pem = key};
    RETURN_IF_ERROR(http::CheckClientTls({.client = pair}));
    *pair_.Lock() = std::make_shared<const http::KeyPair>(std::move(pair));
    return {};
  }

  Guarded<std::shared_ptr<const http::KeyPair>> pair_;
  Guarded<std::unique_ptr<WatchedFiles>> watched_;
};

Status Named(const Status& status) {
  if (status.ok()) return status;
  return status.WithMessage("--proxy-client-*: " + std::string(status.message()));
}

}  // namespace

// Names and order follow ServerRunOptions.Flags of kube-apiserver.
void AggregatorOptions::AddFlags(options::FlagSet& flags) {
  flags.BeginSection("Misc");
  flags.Add({.name = "--proxy-client-cert-file",
             .value = &proxy_client_cert_file,
             .help = "PEM file of the client certificate by which extension servers know this "
                     "server as a front proxy (default: one of an authority of the server's own)"});
  flags.Add({.name = "--proxy-client-key-file",
             .value = &proxy_client_key_file,
             .help = "PEM file of that certificate's key"});
  routing = flags.Add({.name = "--enable-aggregator-routing",
                       .value = &enable_aggregator_routing,
                       .help = "Send requests to endpoints of extension servers' services, not to "
                               "their cluster IPs; \"=false\": to cluster IPs (default: to "
                               "external names and endpoints)"});
  flags.Add({.name = "--aggregator-reject-forwarding-redirect",
             .value = &reject_forwarding_redirect,
             .help = "Do not forward redirects of extension servers to clients (default: true)"});
}

Status AggregatorOptions::Validate() const {
  if (proxy_client_cert_file.empty() == proxy_client_key_file.empty()) return {};
  return {Reason::kInvalid,
          "--proxy-client-cert-file and --proxy-client-key-file must be given together"};
}

Result<std::shared_ptr<const Source<http::KeyPair>>> AggregatorOptions::FollowProxyClient(
    server::GenericAPIServer& server, LogSink& log, FileSystem& files) const {
  if (proxy_client_cert_file.empty()) return std::shared_ptr<const Source<http::KeyPair>>();
  const auto pair = std::make_shared<FollowedKeyPair>();
  RETURN_IF_ERROR(Named(pair->Read(*this, files)));
  RETURN_IF_ERROR(server.AddPostStartHook(
      kHook, [pair, options = *this, &log, &files](const server::HookContext& hook) {
        return Named(
            pair->Start(options, {.files = files, .executor = hook.server.pool(), .log = log}));
      }));
  RETURN_IF_ERROR(server.AddPreShutdownHook(kHook, [pair](const auto&) {
    pair->Stop();
    return Status();
  }));
  return std::shared_ptr<const Source<http::KeyPair>>(pair);
}

std::shared_ptr<const ServiceResolver> AggregatorOptions::NewResolver(
    std::shared_ptr<const Services> services) const {
  const bool given = routing != nullptr && routing->given;
  if (enable_aggregator_routing) return NewEndpointServiceResolver(std::move(services));
  if (given) return NewClusterIPServiceResolver(std::move(services));
  return NewReachableServiceResolver(std::move(services));
}

}  // namespace apiserver::v0::aggregator
