#include "aggregation.h"

#include <chrono>
#include <utility>

#include "apiserver/aggregator/aggregator.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/status_macros.h"
#include "apiserver/client/client.h"
#include "examination.h"

namespace kube {

namespace {

using apiserver::Result;
using apiserver::Status;
namespace aggregator = apiserver::aggregator;
namespace http = apiserver::http;
namespace server = apiserver::server;

constexpr char kProxyName[] = "front-proxy-client";
constexpr std::chrono::milliseconds kServicesStep(50);
// Lets only the owner read keys.
constexpr unsigned kOwnerOnly = 0600;

// Returns the authority that stands in the folder; makes it if there is none.
Result<http::KeyPair> AuthorityIn(const std::string& folder) {
  apiserver::FileSystem& files = apiserver::RealFileSystem();
  const std::string certificate = folder + "/front-proxy-ca.crt";
  const std::string key = folder + "/front-proxy-ca.key";
  if (files.Exists(certificate) && files.Exists(key)) {
    http::KeyPair pair;
    APISERVER_ASSIGN_OR_RETURN(pair.certificate_pem, files.Read(certificate));
    APISERVER_ASSIGN_OR_RETURN(pair.key_pem, files.Read(key));
    return pair;
  }
  APISERVER_ASSIGN_OR_RETURN(
      http::KeyPair pair, http::NewCertificateAuthority("front-proxy-ca", apiserver::RealClock()));
  APISERVER_RETURN_IF_ERROR(files.WriteAtomically(key, pair.key_pem, kOwnerOnly));
  APISERVER_RETURN_IF_ERROR(files.WriteAtomically(certificate, pair.certificate_pem, kOwnerOnly));
  return pair;
}

}  // namespace

void Aggregation::Examine(std::vector<apiserver::delegation::Finding>& findings) const {
  ExamineClientFiles(
      "proxy-client-cert-file",
      {.certificate = flags_.proxy_client_cert_file, .key = flags_.proxy_client_key_file},
      findings);
}

Status Aggregation::Open(const std::string& folder) {
  if (!flags_.proxy_client_cert_file.empty() || !flags_.proxy_client_key_file.empty()) return {};
  APISERVER_ASSIGN_OR_RETURN(authority_, AuthorityIn(folder));
  APISERVER_ASSIGN_OR_RETURN(
      http::KeyPair client,
      http::NewCertificate(authority_, {.common_name = kProxyName, .client = true},
                           apiserver::RealClock()));
  proxy_client_ = std::make_shared<apiserver::Variable<http::KeyPair>>(std::move(client));
  return {};
}

// Returns the authorities in --requestheader-client-ca-file. While it cannot be read, they are
// those that it had before.
std::string Aggregation::GivenAuthorities() const {
  auto read = apiserver::RealFileSystem().Read(trusted_.request_header_ca_file);
  auto known = given_authorities_.Lock();
  if (read.ok()) *known = *std::move(read);
  return *known;
}

// Extension servers trust the certificate that this server shows them, or what the flags say of
// front proxies if they give that certificate.
aggregator::ClusterAuthentication Aggregation::Authentication() const {
  aggregator::ClusterAuthentication told{.client_ca_pem = user_ca_ ? *user_ca_->Get() : ""};
  if (!authority_.certificate_pem.empty()) {
    told.request_header_ca_pem = authority_.certificate_pem;
    told.allowed_names = {kProxyName};
    return told;
  }
  if (trusted_.request_header_ca_file.empty()) {
    told.username_headers = told.uid_headers = told.group_headers = told.extra_header_prefixes = {};
    return told;
  }
  const auto& names = trusted_.request_header_names;
  told.username_headers = names.username;
  told.uid_headers = names.uid;
  told.group_headers = names.group;
  told.extra_header_prefixes = names.extra_prefix;
  told.allowed_names = trusted_.request_header_allowed_names;
  told.request_header_ca_pem = GivenAuthorities();
  return told;
}

Status Aggregation::Install(server::GenericAPIServer& api,
                            const apiserver::registry::StorageConfig& storage,
                            std::shared_ptr<apiserver::discovery::DefinedVersions> definitions) {
  const bool slices = api.ResourceEnabled({"discovery.k8s.io", "v1", "endpointslices"});
  const auto follow = [services = services_, slices](const server::HookContext& hook) -> Status {
    services->Start(apiserver::client::NewClient(hook.server.LoopbackConnection()), slices);
    while (!services->WaitForSync(kServicesStep)) APISERVER_RETURN_IF_ERROR(hook.ctx.Err());
    return {};
  };
  APISERVER_RETURN_IF_ERROR(api.AddPostStartHook("follow-services", follow));
  APISERVER_RETURN_IF_ERROR(
      api.AddPreShutdownHook("follow-services", [services = services_](const auto&) {
        services->Stop();
        return Status();
      }));
  APISERVER_ASSIGN_OR_RETURN(auto given, flags_.FollowProxyClient(api, *log_));
  APISERVER_RETURN_IF_ERROR(
      aggregator::Install(api, storage,
                          {.dialer = dialer_.get(),
                           .service_resolver = flags_.NewResolver(services_),
                           .services = services_,
                           .proxy_client = given ? std::move(given) : proxy_client_,
                           .reject_forwarding_redirects = flags_.reject_forwarding_redirect,
                           .auto_register = true,
                           .definitions = std::move(definitions)})
          .status());
  return aggregator::PublishClusterAuthentication(api,
                                                  {.own = [this] { return Authentication(); }});
}

}  // namespace kube
