#include "doctor.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "apiserver/base/context.h"
#include "apiserver/base/file_system.h"
#include "apiserver/http/dialer.h"
#include "apiserver/server/cluster_client.h"
#include "apiserver/server/doctor.h"
#include "cluster.h"
#include "common/run_until_signal.h"

namespace sample {

namespace server = apiserver::server;

int Doctor(const DoctorFlags& flags) {
  const auto config = ClusterConfig("--authentication-kubeconfig", flags.kubeconfig);
  if (!config.ok()) return examples::Fail(config.status());
  const auto dialer = apiserver::http::NewDialer();
  const auto cluster = server::NewClusterClient(*config, *dialer, apiserver::RealFileSystem());
  if (!cluster.ok()) return examples::Fail(cluster.status());
  server::DoctorOptions options{
      .cluster = cluster->get(),
      .group_versions = {{"wardle.example.com", "v1alpha1"}, {"wardle.example.com", "v1beta1"}},
      .service_name = flags.service_name,
      .service_namespace = flags.service_namespace};
  if (!flags.tls_cert_file.empty()) {
    auto pem = apiserver::RealFileSystem().Read(flags.tls_cert_file);
    if (!pem.ok()) return examples::Fail(pem.status());
    options.serving_certificate_pem = *std::move(pem);
  }
  const auto findings = server::Diagnose(apiserver::Context::Background(), options);
  std::fputs(server::Render(findings).c_str(), stdout);
  const bool sick = std::ranges::any_of(findings, [](const server::Finding& each) {
    return each.level == server::Finding::Level::kProblem;
  });
  return sick ? 1 : 0;
}

int DoctorMain(int argc, char** argv) {
  DoctorFlags flags;
  CLI::App app("Says why this server does not work behind an aggregator, and what to apply");
  app.allow_extras();
  app.add_option("--authentication-kubeconfig", flags.kubeconfig,
                 "The cluster (default: the one this pod runs in)");
  app.add_option("--service-name", flags.service_name,
                 "The Service in front of the server; APIServices are looked at then");
  app.add_option("--service-namespace", flags.service_namespace, "The Service's namespace")
      ->capture_default_str();
  app.add_option("--tls-cert-file", flags.tls_cert_file, "PEM file of the serving certificate");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return Doctor(flags);
}

}  // namespace sample
