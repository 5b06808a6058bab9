#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/authz/builtin.h"
#include "apiserver/authz/union.h"
#include "apiserver/authz/webhook.h"
#include "apiserver/base/executor.h"
#include "apiserver/client/client_config.h"
#include "apiserver/client/cpprest/http_client.h"
#include "apiserver/server/delegated_authentication.h"
#include "cluster.h"
#include "duration_flag.h"
#include "options.h"
#include "parts/parts.h"

namespace sample {

namespace {

using apiserver::Result;
using apiserver::Status;
namespace auth = apiserver::auth;
namespace authz = apiserver::authz;
namespace client = apiserver::client;
namespace server = apiserver::server;

constexpr char kReviews[] = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

// Who somebody is, and what they may do, is asked of a cluster: --no-standalone.
class Delegation final : public Part {
 public:
  void AddFlags(CLI::App& app) override {
    app.add_option("--authentication-kubeconfig", authentication_.kubeconfig_file,
                   "The cluster that knows who somebody is (default: the one this pod runs in)");
    app.add_flag("--authentication-skip-lookup", authentication_.skip_lookup,
                 "Do not look the authorities up in the cluster");
    app.add_flag("--authentication-tolerate-lookup-failure",
                 authentication_.tolerate_lookup_failure,
                 "Start although the cluster does not tell its authorities");
    AddDuration(app, "--authentication-token-webhook-cache-ttl", authentication_.token_cache_ttl,
                "How long what the cluster says of a token holds (default: 10s)");
    AddRequestHeaderFlags(app);
    app.add_option("--authorization-kubeconfig", authorization_kubeconfig_,
                   "The cluster that says what somebody may do (default: the one this pod runs "
                   "in)");
    AddDuration(app, "--authorization-webhook-cache-authorized-ttl", authorized_ttl_,
                "How long a yes of the cluster holds (default: 10s)");
    AddDuration(app, "--authorization-webhook-cache-unauthorized-ttl", unauthorized_ttl_,
                "How long a no of the cluster holds (default: 10s)");
    app.add_option("--authorization-always-allow-paths", always_allow_paths_,
                   "Paths that everybody may read who is known, a trailing * is a prefix")
        ->delimiter(',')
        ->capture_default_str();
  }

  Status Configure(const Environment& environment, server::Config& config) override {
    if (environment.options.standalone) return {};
    executor_ = apiserver::NewThreadPool({.name = "delegation", .threads = 2});
    const auto new_client = client::NewCpprestHttpClientFactory();
    authentication_.http_client = new_client;
    authentication_.client_ca_file = environment.options.client_ca_file;
    // Probes of a cluster come without credentials.
    authentication_.anonymous = true;
    authentication_.anonymous_paths = {"/healthz", "/livez", "/readyz"};
    authentication_.executor = executor_.get();
    authentication_.log = &environment.log;
    if (authentication_.kubeconfig_file.empty()) authentication_.cluster = InPod();
    auto authentication =
        server::NewDelegatedAuthentication(apiserver::Context::Background(), authentication_);
    if (!authentication.ok()) return authentication.status();
    authentication->Apply(config);
    auto authorizer = NewAuthorizer(environment, config, new_client);
    if (!authorizer.ok()) return authorizer.status();
    config.authorizer = *std::move(authorizer);
    return {};
  }

 private:
  void AddRequestHeaderFlags(CLI::App& app) {
    auto& names = authentication_.request_header_names;
    app.add_option("--requestheader-client-ca-file", authentication_.request_header_ca_file,
                   "PEM file of the authorities of front proxies (default: the cluster's)");
    app.add_option("--requestheader-allowed-names", authentication_.request_header_allowed_names,
                   "Common names that front proxies may have; none: any")
        ->delimiter(',');
    app.add_option("--requestheader-username-headers", names.username, "Headers with the user")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--requestheader-uid-headers", names.uid, "Headers with the user's uid")
        ->delimiter(',');
    app.add_option("--requestheader-group-headers", names.group, "Headers with groups")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--requestheader-extra-headers-prefix", names.extra_prefix,
                   "What headers with extras begin with")
        ->delimiter(',')
        ->capture_default_str();
  }

  Result<std::shared_ptr<const auth::Authorizer>> NewAuthorizer(
      const Environment& environment, const server::Config& config,
      const client::HttpClientFactory& new_client) {
    auto cluster = ClusterConfig("--authorization-kubeconfig", authorization_kubeconfig_);
    if (!cluster.ok()) return cluster.status();
    auto caller = client::NewFollowedClient(
        *cluster, {.new_client = new_client, .executor = executor_.get(), .log = &environment.log});
    if (!caller.ok()) return caller.status();
    auto webhook = authz::NewWebhookAuthorizer({.webhook = {.client = *std::move(caller),
                                                            .url = cluster->server + kReviews,
                                                            .timeout = std::chrono::seconds(10),
                                                            .executor = executor_.get()},
                                                .authorized_ttl = authorized_ttl_,
                                                .unauthorized_ttl = unauthorized_ttl_,
                                                .metrics = config.metrics.get(),
                                                .log = &environment.log});
    if (!webhook.ok()) return webhook.status();
    auto paths = authz::NewAlwaysAllowPaths(always_allow_paths_);
    if (!paths.ok()) return paths.status();
    std::vector<std::shared_ptr<const auth::Authorizer>> all;
    all.push_back(authz::NewPrivilegedGroups({std::string(auth::kSystemPrivilegedGroup)}));
    all.push_back(*std::move(paths));
    all.push_back(*std::move(webhook));
    return std::shared_ptr<const auth::Authorizer>(authz::NewUnion(std::move(all)));
  }

  // First, so that it goes last: the rest waits there.
  std::unique_ptr<apiserver::ThreadPool> executor_;
  server::DelegatedAuthenticationOptions authentication_;
  std::string authorization_kubeconfig_;
  std::chrono::milliseconds authorized_ttl_ = std::chrono::seconds(10);
  std::chrono::milliseconds unauthorized_ttl_ = std::chrono::seconds(10);
  std::vector<std::string> always_allow_paths_ = {"/healthz", "/readyz", "/livez"};
};

}  // namespace

std::unique_ptr<Part> NewDelegation() { return std::make_unique<Delegation>(); }

}  // namespace sample
