#include "apiserver/options/authorization.h"

#include <utility>

#include "apiserver/authz/builtin.h"
#include "apiserver/authz/instrumented.h"
#include "apiserver/authz/union.h"
#include "apiserver/authz/webhook.h"
#include "apiserver/client/tracing.h"
#include "base/status_macros.h"
#include "options/calls_out.h"
#include "options/given_flags.h"

namespace apiserver::v0::options {

namespace {

using Paths = AuthorizationOptions::Paths;
using AuthorizerPtr = std::shared_ptr<const auth::Authorizer>;

constexpr char kReviews[] = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
constexpr char kConfigFlag[] = "--authorization-config";
constexpr char kKubeconfigFlag[] = "--authorization-kubeconfig";
constexpr char kPathsFlag[] = "--authorization-always-allow-paths";

// Upstream excludes these flags, too. We add why, and which flag to leave out.
std::string ProblemOfFile(const AuthorizationOptions& options) {
  if (options.config_file.empty()) return "";
  if (!options.kubeconfig_file.empty()) {
    return std::string(kConfigFlag) +
           " can not be specified when --authorization-kubeconfig is defined: the file says whom "
           "to ask";
  }
  std::string other = FirstGiven(options.of_standalone);
  if (other.empty()) other = FirstGiven(options.of_cluster);
  if (other.empty()) return "";
  return std::string(kConfigFlag) +
         " can not be specified when --authorization-mode or --authorization-webhook-* flags are "
         "defined; leave out " +
         other;
}

// system:masters and the paths of probes first, as every server behind an aggregator has them.
Result<AuthorizerPtr> Behind(const std::optional<Paths>& always_allow_paths, AuthorizerPtr last) {
  ASSIGN_OR_RETURN(auto paths, authz::NewAlwaysAllowPaths(always_allow_paths.value_or(
                                   Paths{"/healthz", "/readyz", "/livez"})));
  std::vector<AuthorizerPtr> all;
  all.push_back(authz::NewPrivilegedGroups({std::string(auth::kSystemPrivilegedGroup)}));
  all.push_back(std::move(paths));
  all.push_back(std::move(last));
  return AuthorizerPtr(authz::NewUnion(std::move(all)));
}

// Makes the authorizer of the server that `config` is for.
class Maker {
 public:
  Maker(const AuthorizationOptions& options, const Environment& environment, server::Config& config)
      : options_(options), environment_(environment), config_(config) {}

  // Exactly one source of decisions: a file, a mode, or the cluster.
  Result<Authorization> Make() {
    if (environment_.standalone) made_.rbac = authz::rbac::NewRbacAuthorizer();
    if (!environment_.standalone || !options_.config_file.empty()) {
      made_.executor = NewThreadPool({.name = "authorization", .threads = 2});
    }
    if (!options_.config_file.empty()) {
      RETURN_IF_ERROR(ByFile());
    } else if (environment_.standalone) {
      ByMode();
    } else {
      RETURN_IF_ERROR(ByCluster());
    }
    if (environment_.standalone) RETURN_IF_ERROR(AllowPathsStandalone());
    return std::move(made_);
  }

 private:
  Status ByFile() {
    // It makes the metrics that the next line needs.
    client::HttpClientFactory new_client = client::WithTracing(CallsOut(config_));
    auto file = authz::LoadAuthorizationConfigFile({.path = options_.config_file,
                                                    .executor = made_.executor.get(),
                                                    .files = environment_.files,
                                                    .rbac = made_.rbac,
                                                    .new_client = std::move(new_client),
                                                    .exec_plug_ins = environment_.exec_plug_ins,
                                                    .cluster = environment_.in_cluster,
                                                    .metrics = config_.metrics.get(),
                                                    .server_id = config_.name,
                                                    .log = environment_.log});
    if (!file.ok()) {
      return file.status().WithMessage(std::string(kConfigFlag) + ": " +
                                       std::string(file.status().message()));
    }
    made_.file = *std::move(file);
    if (!made_.file->Has("RBAC")) made_.rbac = nullptr;
    made_.rules = made_.file->rules();
    made_.authorizer = made_.file->authorizer();
    if (environment_.standalone) return {};
    ASSIGN_OR_RETURN(made_.authorizer, Behind(options_.always_allow_paths, made_.authorizer));
    return {};
  }

  // AlwaysAllow needs no authorizer: without one every authenticated user is allowed everything.
  void ByMode() {
    if (options_.mode != "RBAC") {
      made_.rbac = nullptr;
      return;
    }
    if (!config_.metrics) config_.metrics = metrics::NewRegistry();
    made_.rules = made_.rbac;
    made_.authorizer =
        authz::NewUnion({authz::NewPrivilegedGroups({std::string(auth::kSystemPrivilegedGroup)}),
                         authz::NewInstrumented("RBAC", "rbac", made_.rbac, *config_.metrics)});
  }

  // Every decision is the cluster's: SubjectAccessReviews, with the cache and limits of
  // WebhookAuthorizerOptions.
  Status ByCluster() {
    ASSIGN_OR_RETURN(const auto cluster,
                     ClusterConfig(kKubeconfigFlag, options_.kubeconfig_file, environment_));
    ASSIGN_OR_RETURN(
        auto caller,
        client::NewFollowedClient(cluster, {.new_client = client::WithTracing(CallsOut(config_)),
                                            .files = environment_.files,
                                            .executor = made_.executor.get(),
                                            .log = environment_.log}));
    ASSIGN_OR_RETURN(auto webhook,
                     authz::NewWebhookAuthorizer({.webhook = {.client = std::move(caller),
                                                              .url = cluster.server + kReviews,
                                                              .timeout = std::chrono::seconds(10),
                                                              .executor = made_.executor.get()},
                                                  .authorized_ttl = options_.authorized_ttl,
                                                  .unauthorized_ttl = options_.unauthorized_ttl,
                                                  .metrics = config_.metrics.get(),
                                                  .log = environment_.log}));
    ASSIGN_OR_RETURN(made_.authorizer, Behind(options_.always_allow_paths, std::move(webhook)));
    return {};
  }

  // Allows only the paths that the options name: roles and file decide about probes.
  Status AllowPathsStandalone() {
    if (!options_.always_allow_paths || !made_.authorizer) return {};
    ASSIGN_OR_RETURN(auto paths, authz::NewAlwaysAllowPaths(*options_.always_allow_paths));
    made_.authorizer = authz::NewUnion({std::move(paths), made_.authorizer});
    return {};
  }

  const AuthorizationOptions& options_;
  const Environment& environment_;
  server::Config& config_;
  Authorization made_;
};

}  // namespace

void AuthorizationOptions::AddFlags(FlagSet& flags) {
  flags.BeginSection("Authorization");
  flags.Add({.name = kConfigFlag,
             .value = &config_file,
             .help = "AuthorizationConfiguration: authorizers that are asked one after the other"});
  of_standalone = {flags.Add({.name = "--authorization-mode",
                              .value = &mode,
                              .help = "Who may do what: RBAC (by roles and bindings; "
                                      "system:masters may everything) or AlwaysAllow (everybody "
                                      "who is known, everything)",
                              .show_default = true,
                              .one_of = {"RBAC", "AlwaysAllow"}})};
  of_cluster = {flags.Add({.name = "--authorization-webhook-cache-authorized-ttl",
                           .value = &authorized_ttl,
                           .help = "How long a yes of the cluster holds (default: 10s)"}),
                flags.Add({.name = "--authorization-webhook-cache-unauthorized-ttl",
                           .value = &unauthorized_ttl,
                           .help = "How long a no of the cluster holds (default: 10s)"}),
                flags.Add({.name = kKubeconfigFlag,
                           .value = &kubeconfig_file,
                           .help = "The cluster that says what somebody may do (default: the one "
                                   "this pod runs in)"})};
  flags.Add({.name = kPathsFlag,
             .value = [this](const std::vector<std::string>& paths) -> Status {
               // An empty text is an empty list: pflag reads it so.
               always_allow_paths = paths == Paths{""} ? Paths{} : paths;
               return {};
             },
             .help = "Paths that everybody may read who is known, a trailing * is a prefix "
                     "(default: /healthz,/readyz,/livez; standalone: none but what the authorizer "
                     "says)",
             .comma_separated = true,
             .type_name = "PATHS"});
}

std::vector<std::string> AuthorizationOptions::Validate(bool standalone) const {
  std::vector<std::string> problems;
  const auto add = [&](std::string problem) {
    if (!problem.empty()) problems.push_back(std::move(problem));
  };
  add(ProblemOfFile(*this));
  add(ProblemOfClusterFlags(standalone, of_cluster));
  add(ProblemOfStandaloneFlags(standalone, of_standalone,
                               "the cluster of --authorization-kubeconfig, or a file, "
                               "--authorization-config, says who may do what"));
  const auto paths = authz::NewAlwaysAllowPaths(always_allow_paths.value_or(Paths{}));
  if (!paths.ok()) add(kPathsFlag + (": " + std::string(paths.status().message())));
  return problems;
}

Result<Authorization> AuthorizationOptions::ApplyTo(server::Config& config,
                                                    const Environment& environment) const {
  ASSIGN_OR_RETURN(auto made, Maker(*this, environment, config).Make());
  config.authorizer = made.authorizer;
  return made;
}

}  // namespace apiserver::v0::options
