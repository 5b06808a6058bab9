#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apiserver/base/executor.h"
#include "apiserver/delegation/delegated_authentication.h"
#include "calls_out.h"
#include "cluster.h"
#include "duration_flag.h"
#include "given_flags.h"
#include "options.h"
#include "parts/parts.h"

namespace sample {

namespace {

using apiserver::Status;
namespace client = apiserver::client;
namespace delegation = apiserver::delegation;
namespace server = apiserver::server;

// Who somebody is is asked of a cluster: --no-standalone. Standalone, front proxies are all there
// is of it, and only with an authority of theirs.
class Delegation final : public Part {
 public:
  void AddFlags(examples::CliFlags& flags) override {
    CLI::App& app = flags.app();
    of_cluster_ = {
        app.add_option(
            "--authentication-kubeconfig", authentication_.kubeconfig_file,
            "The cluster that knows who somebody is (default: the one this pod runs in)"),
        app.add_flag("--authentication-skip-lookup", authentication_.skip_lookup,
                     "Do not look the authorities up in the cluster"),
        app.add_flag("--authentication-tolerate-lookup-failure",
                     authentication_.tolerate_lookup_failure,
                     "Start although the cluster does not tell its authorities"),
        AddDuration(app, "--authentication-token-webhook-cache-ttl",
                    authentication_.token_cache_ttl,
                    "How long what the cluster says of a token holds (default: 10s)")};
    AddRequestHeaderFlags(app);
  }

  std::string Problem(const Options& options) const override {
    std::string problem = ProblemOfClusterFlags(options, of_cluster_);
    if (!problem.empty() || !authentication_.request_header_ca_file.empty()) return problem;
    const std::string given = FirstGiven(of_proxies_);
    if (given.empty()) return "";
    return given + " needs --requestheader-client-ca-file: without it " +
           (options.standalone ? "there are no front proxies"
                               : "the cluster says what its front proxies are like") +
           "; set it, or leave out " + given;
  }

  Status Configure(const Environment& environment, server::Config& config) override {
    const bool standalone = environment.options.standalone;
    if (standalone && authentication_.request_header_ca_file.empty()) return {};
    executor_ = apiserver::NewThreadPool({.name = "delegation", .threads = 2});
    authentication_.executor = executor_.get();
    authentication_.log = &environment.log;
    authentication_.metrics = config.metrics;
    if (standalone) {
      authentication_.skip_lookup = true;
    } else {
      AskCluster(environment.options, config);
    }
    auto authentication =
        delegation::NewDelegatedAuthentication(apiserver::Context::Background(), authentication_);
    if (!authentication.ok()) return authentication.status();
    if (standalone) {
      authentication->PutBefore(config);
    } else {
      authentication->Apply(config);
    }
    return {};
  }

 private:
  void AskCluster(const Options& options, server::Config& config) {
    authentication_.http_client = CallsOut(config);
    authentication_.client_ca_file = options.client_ca_file;
    // Probes of a cluster come without credentials.
    authentication_.anonymous = true;
    authentication_.anonymous_paths = {"/healthz", "/livez", "/readyz"};
    if (authentication_.kubeconfig_file.empty()) authentication_.cluster = InPod();
  }

  void AddRequestHeaderFlags(CLI::App& app) {
    auto& names = authentication_.request_header_names;
    app.add_option(
        "--requestheader-client-ca-file", authentication_.request_header_ca_file,
        "PEM file of the authorities of front proxies (default: the cluster's; standalone: "
        "there are no front proxies)");
    of_proxies_ = {
        app.add_option("--requestheader-allowed-names",
                       authentication_.request_header_allowed_names,
                       "Common names that front proxies may have; none: any")
            ->delimiter(','),
        app.add_option("--requestheader-username-headers", names.username, "Headers with the user")
            ->delimiter(',')
            ->capture_default_str(),
        app.add_option("--requestheader-uid-headers", names.uid, "Headers with the user's uid")
            ->delimiter(','),
        app.add_option("--requestheader-group-headers", names.group, "Headers with groups")
            ->delimiter(',')
            ->capture_default_str(),
        app.add_option("--requestheader-extra-headers-prefix", names.extra_prefix,
                       "What headers with extras begin with")
            ->delimiter(',')
            ->capture_default_str()};
  }

  // First, so that it goes last: the rest waits there.
  std::unique_ptr<apiserver::ThreadPool> executor_;
  delegation::DelegatedAuthenticationOptions authentication_;
  Flags of_cluster_;
  Flags of_proxies_;  // What they are like; the file with their authorities is none of them.
};

}  // namespace

std::unique_ptr<Part> NewDelegation() { return std::make_unique<Delegation>(); }

}  // namespace sample
