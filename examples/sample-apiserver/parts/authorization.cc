#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/authz/builtin.h"
#include "apiserver/authz/config_file.h"
#include "apiserver/authz/instrumented.h"
#include "apiserver/authz/rbac.h"
#include "apiserver/authz/union.h"
#include "apiserver/authz/webhook.h"
#include "apiserver/base/executor.h"
#include "apiserver/client/client_config.h"
#include "apiserver/client/tracing.h"
#include "apiserver/groups/authorization.h"
#include "apiserver/groups/rbac.h"
#include "calls_out.h"
#include "cluster.h"
#include "duration_flag.h"
#include "given_flags.h"
#include "options.h"
#include "parts/parts.h"

namespace sample {

namespace {

using apiserver::Status;
namespace auth = apiserver::auth;
namespace authz = apiserver::authz;
namespace client = apiserver::client;
namespace groups = apiserver::groups;

constexpr char kReviews[] = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
constexpr char kConfigFlag[] = "--authorization-config";
constexpr char kPathsFlag[] = "--authorization-always-allow-paths";

// Who may do what: by a file, by roles of the server's own, or by a cluster that is asked
// (--no-standalone).
class Authorization final : public Part {
 public:
  void AddFlags(examples::CliFlags& flags) override {
    CLI::App& app = flags.app();
    app.add_option(kConfigFlag, config_file_,
                   "AuthorizationConfiguration: authorizers that are asked one after the other");
    of_standalone_ = {
        app.add_option("--authorization-mode", mode_,
                       "Who may do what: RBAC (by roles and bindings; system:masters may "
                       "everything) or AlwaysAllow (everybody who is known, everything)")
            ->check(CLI::IsMember({"RBAC", "AlwaysAllow"}))
            ->capture_default_str()};
    of_cluster_ = {
        AddDuration(app, "--authorization-webhook-cache-authorized-ttl", authorized_ttl_,
                    "How long a yes of the cluster holds (default: 10s)"),
        AddDuration(app, "--authorization-webhook-cache-unauthorized-ttl", unauthorized_ttl_,
                    "How long a no of the cluster holds (default: 10s)"),
        app.add_option("--authorization-kubeconfig", kubeconfig_,
                       "The cluster that says what somebody may do (default: the one "
                       "this pod runs in)")};
    AddAlwaysAllowPaths(app);
  }

  std::string Problem(const Options& options) const override {
    std::string problem = ProblemOfFile();
    if (problem.empty()) problem = ProblemOfClusterFlags(options, of_cluster_);
    if (problem.empty()) {
      problem = ProblemOfStandaloneFlags(
          options, of_standalone_,
          "the cluster of --authorization-kubeconfig, or a file, --authorization-config, says who "
          "may do what");
    }
    if (!problem.empty()) return problem;
    const auto paths = authz::NewAlwaysAllowPaths(always_allow_paths_.value_or(Paths{}));
    return paths.ok() ? "" : kPathsFlag + (": " + std::string(paths.status().message()));
  }

  Status Configure(const Environment& environment, apiserver::server::Config& config) override {
    const bool standalone = environment.options.standalone;
    if (standalone) rbac_ = authz::rbac::NewRbacAuthorizer();
    if (!standalone || !config_file_.empty()) {
      executor_ = apiserver::NewThreadPool({.name = "authorization", .threads = 2});
    }
    Status made = !config_file_.empty() ? ByFile(environment, config)
                  : standalone          ? ByMode(config)
                                        : ByCluster(environment, config);
    if (made.ok() && standalone) made = AllowPathsStandalone();
    config.authorizer = authorizer_;
    return made;
  }

  Status Install(const Environment& environment, apiserver::server::GenericAPIServer& server,
                 const apiserver::registry::StorageConfig& storage) override {
    if (!environment.options.standalone) return {};
    if (rbac_) {
      Status installed = groups::rbac::Install(
          server,
          {.storage = storage, .rbac = rbac_, .authorizer = authorizer_, .log = &environment.log});
      if (!installed.ok()) return installed;
    }
    // Answers `kubectl auth can-i`.
    return groups::authorization::Install(server, authorizer_, rules_);
  }

 private:
  using Paths = std::vector<std::string>;

  void AddAlwaysAllowPaths(CLI::App& app) {
    const auto read = [this](const CLI::results_t& paths) {
      // An empty text is an empty list: pflag reads it so.
      always_allow_paths_ = paths == Paths{""} ? Paths{} : paths;
      return true;
    };
    app.add_option(kPathsFlag, read,
                   "Paths that everybody may read who is known, a trailing * is a prefix (default: "
                   "/healthz,/readyz,/livez; standalone: none but what the authorizer says)")
        ->type_name("PATHS")
        ->delimiter(',')
        ->expected(1, 1000)
        ->take_all();
  }

  std::string ProblemOfFile() const {
    if (config_file_.empty()) return "";
    if (!kubeconfig_.empty()) {
      return std::string(kConfigFlag) +
             " can not be specified when --authorization-kubeconfig is defined: the file says whom "
             "to ask";
    }
    std::string other = FirstGiven(of_standalone_);
    if (other.empty()) other = FirstGiven(of_cluster_);
    if (other.empty()) return "";
    return std::string(kConfigFlag) +
           " can not be specified when --authorization-mode or --authorization-webhook-* flags are "
           "defined; leave out " +
           other;
  }

  Status ByFile(const Environment& environment, apiserver::server::Config& config) {
    auto file =
        authz::LoadAuthorizationConfigFile({.path = config_file_,
                                            .executor = executor_.get(),
                                            .rbac = rbac_,
                                            .new_client = client::WithTracing(CallsOut(config)),
                                            .cluster = InPod(),
                                            .metrics = config.metrics.get(),
                                            .server_id = config.name,
                                            .log = &environment.log});
    if (!file.ok()) {
      return file.status().WithMessage(std::string(kConfigFlag) + ": " +
                                       std::string(file.status().message()));
    }
    file_ = *std::move(file);
    if (!file_->Has("RBAC")) rbac_ = nullptr;
    rules_ = file_->rules();
    authorizer_ = file_->authorizer();
    return environment.options.standalone ? Status() : Behind(authorizer_);
  }

  Status ByMode(const apiserver::server::Config& config) {
    if (mode_ != "RBAC") {
      rbac_ = nullptr;
      return {};
    }
    rules_ = rbac_;
    authorizer_ =
        authz::NewUnion({authz::NewPrivilegedGroups({std::string(auth::kSystemPrivilegedGroup)}),
                         authz::NewInstrumented("RBAC", "rbac", rbac_, *config.metrics)});
    return {};
  }

  Status ByCluster(const Environment& environment, apiserver::server::Config& config) {
    auto cluster = ClusterConfig("--authorization-kubeconfig", kubeconfig_);
    if (!cluster.ok()) return cluster.status();
    auto caller =
        client::NewFollowedClient(*cluster, {.new_client = client::WithTracing(CallsOut(config)),
                                             .executor = executor_.get(),
                                             .log = &environment.log});
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
    return Behind(*std::move(webhook));
  }

  // system:masters and the paths of probes first, as every server behind an aggregator has them.
  Status Behind(std::shared_ptr<const auth::Authorizer> last) {
    auto paths = authz::NewAlwaysAllowPaths(
        always_allow_paths_.value_or(Paths{"/healthz", "/readyz", "/livez"}));
    if (!paths.ok()) return paths.status();
    std::vector<std::shared_ptr<const auth::Authorizer>> all;
    all.push_back(authz::NewPrivilegedGroups({std::string(auth::kSystemPrivilegedGroup)}));
    all.push_back(*std::move(paths));
    all.push_back(std::move(last));
    authorizer_ = authz::NewUnion(std::move(all));
    return {};
  }

  // Those that the command line names; no others, for the roles and the file say who may probe.
  Status AllowPathsStandalone() {
    if (!always_allow_paths_ || !authorizer_) return {};
    auto paths = authz::NewAlwaysAllowPaths(*always_allow_paths_);
    if (!paths.ok()) return paths.status();
    authorizer_ = authz::NewUnion({*std::move(paths), authorizer_});
    return {};
  }

  // First, so that it goes last: the rest waits there.
  std::unique_ptr<apiserver::ThreadPool> executor_;
  std::string config_file_;
  Flags of_standalone_;
  Flags of_cluster_;
  std::string mode_ = "RBAC";
  std::string kubeconfig_;
  std::chrono::milliseconds authorized_ttl_ = std::chrono::seconds(10);
  std::chrono::milliseconds unauthorized_ttl_ = std::chrono::seconds(10);
  std::optional<Paths> always_allow_paths_;            // nullopt: the command line names none.
  std::shared_ptr<authz::rbac::RbacAuthorizer> rbac_;  // Null: roles are not asked.
  std::unique_ptr<authz::AuthorizationConfigFile> file_;
  std::shared_ptr<const auth::RuleResolver> rules_;
  std::shared_ptr<const auth::Authorizer> authorizer_;  // Null: everything is allowed.
};

}  // namespace

std::unique_ptr<Part> NewAuthorization() { return std::make_unique<Authorization>(); }

}  // namespace sample
