#include "program/doctor.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/context.h"
#include "apiserver/base/file_system.h"
#include "apiserver/delegation/cluster_client.h"
#include "apiserver/delegation/doctor.h"
#include "apiserver/http/dialer.h"
#include "apiserver/options/environment.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "program/cluster.h"
#include "program/command_line.h"

namespace apiserver::v0::program {

namespace {

constexpr char kAuthenticationKubeconfig[] = "--authentication-kubeconfig";
constexpr char kAuthorizationKubeconfig[] = "--authorization-kubeconfig";
constexpr char kTlsCertFile[] = "--tls-cert-file";

struct DoctorFlags {
  std::string authentication_kubeconfig;  // Empty: the pod's.
  // Empty: the pod's; outside of a pod that of authentication.
  std::string authorization_kubeconfig;
  std::string service_name;
  std::string service_namespace;
  std::string tls_cert_file;
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

// Makes `--help` show the server's flags that matter here, and doctor's own, first.
void Arrange(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool needed = option == app.get_help_ptr() || name == kAuthenticationKubeconfig ||
                        name == kAuthorizationKubeconfig || name == kTlsCertFile;
    option->group(needed ? "Options"
                         : "Of the server, accepted so that its command line may be given");
  }
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
  if (!flags.tls_cert_file.empty()) {
    auto pem = RealFileSystem().Read(flags.tls_cert_file);
    if (!pem.ok()) return Fail(pem.status());
    doctor.serving_certificate_pem = *std::move(pem);
  }
  const auto findings = delegation::Diagnose(Context::Background(), doctor);
  (void)Print({.text = delegation::Render(findings)});
  const bool sick = std::ranges::any_of(findings, [](const delegation::Finding& each) {
    return each.level == delegation::Finding::Level::kProblem;
  });
  return sick ? kExitFailure : kExitOk;
}

}  // namespace

// Accepts the server's whole command line, so that one can write doctor in front of it.
int DoctorMain(int argc, const char* const* argv, const Program& program) {
  DoctorFlags flags{.service_namespace = program.service_namespace};
  Values values(program);
  // Only a server behind an aggregator asks a cluster.
  values.recommended.standalone = false;
  CLI::App app("Says why this server does not work behind an aggregator, and what to apply");
  CliFlags server_flags(app);
  AddServerFlags(server_flags, values);
  Arrange(app);
  app.add_option("--service-name", flags.service_name,
                 "The Service in front of the server; APIServices are looked at then");
  app.add_option("--service-namespace", flags.service_namespace, "The Service's namespace")
      ->capture_default_str();
  const Reading reading = server_flags.Parse(argc, argv);
  if (reading.exit) return Print(reading);
  std::string problem = FinishFlags(values);
  if (values.recommended.standalone) {
    problem = "doctor looks at a server behind an aggregator: leave out --standalone";
  }
  if (!problem.empty()) return Print(Refused(problem));
  flags.authentication_kubeconfig = values.recommended.authentication.values.kubeconfig_file;
  flags.authorization_kubeconfig = values.recommended.authorization.kubeconfig_file;
  flags.tls_cert_file = values.recommended.secure_serving.tls_cert_file;
  return Look(flags, program);
}

}  // namespace apiserver::v0::program
