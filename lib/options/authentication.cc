#include "apiserver/options/authentication.h"

#include <utility>

#include "base/status_macros.h"
#include "options/calls_out.h"
#include "options/given_flags.h"

namespace apiserver::v0::options {

namespace {

// Adds the flags that describe front proxies, but for the file of their authorities.
Flags AddRequestHeaderFlags(delegation::DelegatedAuthenticationOptions& values, FlagSet& flags) {
  auto& names = values.request_header_names;
  return {flags.Add({.name = "--requestheader-allowed-names",
                     .value = &values.request_header_allowed_names,
                     .help = "Common names that front proxies may have; none: any",
                     .comma_separated = true}),
          flags.Add({.name = "--requestheader-username-headers",
                     .value = &names.username,
                     .help = "Headers with the user",
                     .show_default = true,
                     .comma_separated = true}),
          flags.Add({.name = "--requestheader-uid-headers",
                     .value = &names.uid,
                     .help = "Headers with the user's uid",
                     .comma_separated = true}),
          flags.Add({.name = "--requestheader-group-headers",
                     .value = &names.group,
                     .help = "Headers with groups",
                     .show_default = true,
                     .comma_separated = true}),
          flags.Add({.name = "--requestheader-extra-headers-prefix",
                     .value = &names.extra_prefix,
                     .help = "What headers with extras begin with",
                     .show_default = true,
                     .comma_separated = true})};
}

}  // namespace

void DelegatingAuthenticationOptions::AddFlags(FlagSet& flags) {
  flags.BeginSection("Authentication");
  of_cluster = {
      flags.Add({.name = "--authentication-kubeconfig",
                 .value = &values.kubeconfig_file,
                 .help = "The cluster that knows who somebody is (default: the one this pod runs "
                         "in)"}),
      flags.Add({.name = "--authentication-skip-lookup",
                 .value = &values.skip_lookup,
                 .help = "Do not look the authorities up in the cluster"}),
      flags.Add({.name = "--authentication-tolerate-lookup-failure",
                 .value = &values.tolerate_lookup_failure,
                 .help = "Start although the cluster does not tell its authorities"}),
      flags.Add({.name = "--authentication-token-webhook-cache-ttl",
                 .value = &values.token_cache_ttl,
                 .help = "How long what the cluster says of a token holds (default: 10s)"})};
  flags.Add({.name = "--client-ca-file",
             .value = &values.client_ca_file,
             .help = "PEM file of further authorities of client certificates; followed when it "
                     "changes"});
  flags.Add({.name = "--requestheader-client-ca-file",
             .value = &values.request_header_ca_file,
             .help = "PEM file of the authorities of front proxies (default: the cluster's; "
                     "standalone: there are no front proxies)"});
  of_proxies = AddRequestHeaderFlags(values, flags);
}

std::vector<std::string> DelegatingAuthenticationOptions::Validate(bool standalone) const {
  std::vector<std::string> problems;
  if (std::string problem = ProblemOfClusterFlags(standalone, of_cluster); !problem.empty()) {
    problems.push_back(std::move(problem));
  }
  const std::string given = FirstGiven(of_proxies);
  if (!given.empty() && values.request_header_ca_file.empty()) {
    problems.push_back(given + " needs --requestheader-client-ca-file: without it " +
                       (standalone ? "there are no front proxies"
                                   : "the cluster says what its front proxies are like") +
                       "; set it, or leave out " + given);
  }
  return problems;
}

// The thread pool is returned, since it must outlive the server that `config` is for.
Result<std::unique_ptr<ThreadPool>> DelegatingAuthenticationOptions::ApplyTo(
    server::Config& config, const Environment& environment) const {
  if (environment.standalone && values.request_header_ca_file.empty()) {
    return std::unique_ptr<ThreadPool>();
  }
  auto executor = NewThreadPool({.name = "delegation", .threads = 2});
  delegation::DelegatedAuthenticationOptions options = values;
  options.executor = executor.get();
  options.file_system = environment.files;
  options.log = environment.log;
  options.exec_plug_ins = environment.exec_plug_ins;
  options.metrics = config.metrics;
  if (environment.standalone) {
    options.skip_lookup = true;
    // The server has authorities of users of its own.
    options.client_ca_file.clear();
  } else {
    options.http_client = CallsOut(config);
    // Probes of a cluster come without credentials.
    options.anonymous = true;
    options.anonymous_paths = {"/healthz", "/livez", "/readyz"};
    if (options.kubeconfig_file.empty()) options.cluster = environment.in_cluster;
  }
  ASSIGN_OR_RETURN(const auto authentication,
                   delegation::NewDelegatedAuthentication(Context::Background(), options));
  if (environment.standalone) {
    authentication.PutBefore(config);
  } else {
    authentication.Apply(config);
  }
  return executor;
}

}  // namespace apiserver::v0::options
