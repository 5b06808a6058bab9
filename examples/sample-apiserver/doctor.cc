#include "doctor.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/context.h"
#include "apiserver/base/file_system.h"
#include "apiserver/delegation/cluster_client.h"
#include "apiserver/delegation/doctor.h"
#include "apiserver/http/dialer.h"
#include "apiserver/options/environment.h"
#include "cluster.h"
#include "common/run_until_signal.h"

namespace sample {

namespace delegation = apiserver::delegation;

constexpr char kAuthenticationKubeconfig[] = "--authentication-kubeconfig";
constexpr char kAuthorizationKubeconfig[] = "--authorization-kubeconfig";
constexpr char kTlsCertFile[] = "--tls-cert-file";

namespace {

using ClusterClient = std::unique_ptr<apiserver::client::Client>;
using apiserver::Result;

// Who asks for SubjectAccessReviews, where that is not who asks for TokenReviews; else null.
Result<ClusterClient> AuthorizationCluster(const DoctorFlags& flags,
                                           apiserver::http::Dialer& dialer) {
  if (flags.authorization_kubeconfig == flags.authentication_kubeconfig) return ClusterClient();
  if (flags.authorization_kubeconfig.empty() && !InPod()) return ClusterClient();
  const auto config = apiserver::options::ClusterConfig(
      kAuthorizationKubeconfig, flags.authorization_kubeconfig, {.in_cluster = InPod()});
  if (!config.ok()) return config.status();
  return delegation::NewClusterClient(*config, dialer, apiserver::RealFileSystem());
}

// Of all the flags of the server `--help` shows first those that matter here.
void Arrange(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool needed = option == app.get_help_ptr() || name == kAuthenticationKubeconfig ||
                        name == kAuthorizationKubeconfig || name == kTlsCertFile;
    if (!needed) option->group("Of the server, accepted so that its command line may be given");
  }
}

}  // namespace

int Doctor(const DoctorFlags& flags) {
  const auto config = apiserver::options::ClusterConfig(
      kAuthenticationKubeconfig, flags.authentication_kubeconfig, {.in_cluster = InPod()});
  if (!config.ok()) return examples::Fail(config.status());
  const auto dialer = apiserver::http::NewDialer();
  const auto cluster = delegation::NewClusterClient(*config, *dialer, apiserver::RealFileSystem());
  if (!cluster.ok()) return examples::Fail(cluster.status());
  const auto authorization = AuthorizationCluster(flags, *dialer);
  if (!authorization.ok()) return examples::Fail(authorization.status());
  delegation::DoctorOptions options{
      .cluster = cluster->get(),
      .authorization_cluster = authorization->get(),
      .group_versions = {{"wardle.example.com", "v1alpha1"}, {"wardle.example.com", "v1beta1"}},
      .service_name = flags.service_name,
      .service_namespace = flags.service_namespace};
  if (!flags.tls_cert_file.empty()) {
    auto pem = apiserver::RealFileSystem().Read(flags.tls_cert_file);
    if (!pem.ok()) return examples::Fail(pem.status());
    options.serving_certificate_pem = *std::move(pem);
  }
  const auto findings = delegation::Diagnose(apiserver::Context::Background(), options);
  std::fputs(delegation::Render(findings).c_str(), stdout);
  const bool sick = std::ranges::any_of(findings, [](const delegation::Finding& each) {
    return each.level == delegation::Finding::Level::kProblem;
  });
  return sick ? 1 : 0;
}

int DoctorMain(int argc, char** argv) {
  DoctorFlags flags;
  Options options;
  // Nobody else needs a doctor.
  options.recommended.standalone = false;
  CLI::App app("Says why this server does not work behind an aggregator, and what to apply");
  examples::CliFlags server_flags(app);
  AddServerFlags(server_flags, options);
  Arrange(app);
  app.add_option("--service-name", flags.service_name,
                 "The Service in front of the server; APIServices are looked at then");
  app.add_option("--service-namespace", flags.service_namespace, "The Service's namespace")
      ->capture_default_str();
  try {
    server_flags.Parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  std::string problem = FinishFlags(options);
  if (options.recommended.standalone) {
    problem = "doctor looks at a server behind an aggregator: leave out --standalone";
  }
  if (!problem.empty()) {
    std::cerr << "error: " << problem << "\n";
    return 1;
  }
  flags.authentication_kubeconfig = options.recommended.authentication.values.kubeconfig_file;
  flags.authorization_kubeconfig = options.recommended.authorization.kubeconfig_file;
  flags.tls_cert_file = options.recommended.secure_serving.tls_cert_file;
  return Doctor(flags);
}

}  // namespace sample
