#include "program/doctor.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/file_system.h"
#include "apiserver/delegation/cluster_client.h"
#include "apiserver/delegation/doctor.h"
#include "apiserver/http/dialer.h"
#include "apiserver/options/core_api.h"
#include "apiserver/options/environment.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "base/status_macros.h"
#include "program/cluster.h"
#include "program/command_line.h"
#include "program/examination.h"

namespace apiserver::v0::program {

namespace {

constexpr char kAuthenticationKubeconfig[] = "--authentication-kubeconfig";
constexpr char kAuthorizationKubeconfig[] = "--authorization-kubeconfig";
constexpr char kKubeconfig[] = "--kubeconfig";
constexpr char kTlsCertFile[] = "--tls-cert-file";

// The values of the doctor's own flags.
struct DoctorFlags {
  std::string authentication_kubeconfig;  // Empty: the pod's.
  // Empty: the pod's; outside of a pod that of authentication.
  std::string authorization_kubeconfig;
  std::string kubeconfig;  // Empty: the pod's; outside of a pod no cluster is obeyed.
  std::string service_name;
  std::string service_namespace;
  std::string tls_cert_file;
  bool json = false;
  bool fix = false;
};

using ClusterClient = std::unique_ptr<client::Client>;

// Returns the client that asks for SubjectAccessReviews. Null: the one that asks for TokenReviews.
Result<ClusterClient> AuthorizationCluster(const DoctorFlags& flags, http::Dialer& dialer) {
  if (flags.authorization_kubeconfig == flags.authentication_kubeconfig) return ClusterClient();
  if (flags.authorization_kubeconfig.empty() && !InPod()) return ClusterClient();
  const auto config = options::ClusterConfig(
      kAuthorizationKubeconfig, flags.authorization_kubeconfig, {.in_cluster = InPod()});
  if (!config.ok()) return config.status();
  return delegation::NewClusterClient(*config, dialer, RealFileSystem());
}

// Returns the client that follows what admission obeys. Null: the one that asks for TokenReviews.
Result<ClusterClient> CoreCluster(const DoctorFlags& flags, http::Dialer& dialer) {
  if (flags.kubeconfig == flags.authentication_kubeconfig) return ClusterClient();
  const auto config =
      options::ClusterConfig(kKubeconfig, flags.kubeconfig, {.in_cluster = InPod()});
  if (!config.ok()) return config.status();
  return delegation::NewClusterClient(*config, dialer, RealFileSystem());
}

// Adds what admission follows in a cluster, if it does: the flags say which cluster that is.
Status AddFollowed(const DoctorFlags& flags, http::Dialer& dialer, ClusterClient& core,
                   delegation::DoctorOptions& doctor) {
  if (flags.kubeconfig.empty() && !InPod()) return {};
  ASSIGN_OR_RETURN(core, CoreCluster(flags, dialer));
  doctor.core_cluster = core.get();
  doctor.followed = options::FollowedResources();
  return {};
}

// Makes `--help` show the server's flags that matter here, and doctor's own, first.
void Arrange(CLI::App& app) {
  const std::set<std::string> needed_flags = {
      "--standalone",           "--data-dir", "--config",  kAuthenticationKubeconfig,
      kAuthorizationKubeconfig, kKubeconfig,  kTlsCertFile};
  for (CLI::Option* option : app.get_options()) {
    const bool needed = option == app.get_help_ptr() || needed_flags.contains(option->get_name());
    option->group(needed ? "Options"
                         : "Of the server, accepted so that its command line may be given");
  }
}

// Prints the findings and returns the exit code.
int Tell(const std::vector<delegation::Finding>& findings, bool json) {
  (void)Print({.text = json ? delegation::RenderJson(findings) : delegation::Render(findings)});
  const bool sick = std::ranges::any_of(findings, [](const delegation::Finding& each) {
    return each.level == delegation::Finding::Level::kProblem;
  });
  return sick ? kExitFailure : kExitOk;
}

int Look(const DoctorFlags& flags, const Program& program) {
  const auto config = options::ClusterConfig(
      kAuthenticationKubeconfig, flags.authentication_kubeconfig, {.in_cluster = InPod()});
  if (!config.ok()) return Fail(config.status());
  const auto dialer = http::NewDialer();
  const auto cluster = delegation::NewClusterClient(*config, *dialer, RealFileSystem());
  if (!cluster.ok()) return Fail(cluster.status());
  const auto authorization = AuthorizationCluster(flags, *dialer);
  if (!authorization.ok()) return Fail(authorization.status());
  delegation::DoctorOptions doctor{.cluster = cluster->get(),
                                   .authorization_cluster = authorization->get(),
                                   .group_versions = program.group_versions,
                                   .service_name = flags.service_name,
                                   .service_namespace = flags.service_namespace};
  ClusterClient core;
  if (const Status added = AddFollowed(flags, *dialer, core, doctor); !added.ok()) {
    return Fail(added);
  }
  if (!flags.tls_cert_file.empty()) {
    auto pem = RealFileSystem().Read(flags.tls_cert_file);
    if (!pem.ok()) return Fail(pem.status());
    doctor.serving_certificate_pem = *std::move(pem);
  }
  return Tell(delegation::Diagnose(Context::Background(), doctor), flags.json);
}

// Returns the name of a flag of the doctor's: a name that the program's own flags have is theirs,
// so that its command line means the same to the doctor.
std::string NameFor(const CLI::App& app, const std::string& name) {
  return (app.get_option_no_throw("--" + name) == nullptr ? "--" : "--doctor-") + name;
}

// Adds the doctor's own flags and returns those that only a server behind an aggregator has.
std::vector<const CLI::Option*> AddDoctorFlags(CLI::App& app, DoctorFlags& flags) {
  app.add_flag(NameFor(app, "json"), flags.json, "Print one JSON document instead of lines");
  app.add_flag(NameFor(app, "fix"), flags.fix,
               "With --standalone, and while the server is stopped: repair modes of files, make a "
               "missing data directory, renew the server's own certificates and its kubeconfig");
  return {app.add_option(NameFor(app, "service-name"), flags.service_name,
                         "The Service in front of the server; APIServices are looked at then"),
          app.add_option(NameFor(app, "service-namespace"), flags.service_namespace,
                         "The Service's namespace")
              ->capture_default_str()};
}

// Returns one line about a flag that the doctor of the other kind of server has. Empty: there is
// none.
std::string Misplaced(const std::vector<const CLI::Option*>& aggregated, const DoctorFlags& flags,
                      bool standalone) {
  if (!standalone) {
    return flags.fix ? "--fix repairs a standalone server; what a cluster lacks is printed, to be "
                       "applied with kubectl: leave out --fix, or add --standalone"
                     : "";
  }
  for (const CLI::Option* option : aggregated) {
    if (option->count() == 0) continue;
    return option->get_name() +
           " is for a server behind an aggregator: leave it out, or leave out --standalone";
  }
  return "";
}

}  // namespace

// Accepts the server's whole command line, so that one can write doctor in front of it.
int DoctorMain(int argc, const char* const* argv, const Program& program) {
  DoctorFlags flags{.service_namespace = program.service_namespace};
  Values values(program);
  // The doctor looks at a server behind an aggregator unless a flag says that it stands alone.
  values.recommended.standalone = false;
  CLI::App app(
      "Says why this server does not work behind an aggregator, and what to apply; or, with "
      "--standalone, what is wrong with its data directory and flags");
  CliFlags server_flags(app);
  AddServerFlags(server_flags, values);
  server_flags.AddConfigFlag();
  Arrange(app);
  const auto aggregated = AddDoctorFlags(app, flags);
  const Reading reading = server_flags.Parse(argc, argv);
  if (reading.exit) return Print(reading);
  std::string problem = FinishFlags(values);
  if (problem.empty()) problem = Misplaced(aggregated, flags, values.recommended.standalone);
  if (!problem.empty()) return Print(Refused(problem));
  if (values.recommended.standalone) {
    const ExaminationOptions patient{.values = values, .program = program};
    return Tell(flags.fix ? Repair(patient) : Examine(patient), flags.json);
  }
  flags.authentication_kubeconfig = values.recommended.authentication.values.kubeconfig_file;
  flags.authorization_kubeconfig = values.recommended.authorization.kubeconfig_file;
  flags.kubeconfig = values.recommended.core_api.kubeconfig_file;
  flags.tls_cert_file = values.recommended.secure_serving.tls_cert_file;
  return Look(flags, program);
}

}  // namespace apiserver::v0::program
