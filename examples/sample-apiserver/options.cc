#include "options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "duration_flag.h"

namespace sample {

namespace {

std::string DefaultDataDir() {
  // NOLINTBEGIN(concurrency-mt-unsafe): there is one thread yet
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data) {
    return std::string(data) + "/sample-apiserver";
  }
  const char* home = std::getenv("HOME");
  // NOLINTEND(concurrency-mt-unsafe)
  return std::string(home ? home : ".") + "/.local/share/sample-apiserver";
}

void AddOptions(CLI::App& app, Options& options) {
  app.add_option("--secure-port", options.secure_port,
                 "The port to serve HTTPS on; 0 picks a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  app.add_option("--bind-address", options.bind_address, "The IP address to listen on")
      ->capture_default_str();
  app.add_option("--cert-dir", options.cert_dir,
                 "Where the certificate authority and the keys live (default: the data directory)");
  app.add_option("--tls-cert-file", options.tls_cert_file, "PEM file of a serving certificate");
  app.add_option("--tls-private-key-file", options.tls_private_key_file,
                 "PEM file of the serving certificate's key");
  app.add_option("--http2-max-streams-per-connection", options.http2_max_streams,
                 "Concurrent requests on one HTTP/2 connection")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--storage", options.storage,
                 "Where objects live: rocks, memory or etcd (default: rocks, and etcd with "
                 "--etcd-servers)");
  app.add_option("--data-dir", options.data_dir,
                 "Where objects, keys and the kubeconfig live (default: " + DefaultDataDir() + ")");
  app.add_flag("--watch-cache", options.watch_cache,
               "Answer reads and watches from memory, as far as that may be")
      ->capture_default_str();
  app.add_option("--delete-collection-workers", options.delete_collection_workers,
                 "Objects that a DELETE of a collection deletes at the same time")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--enable-garbage-collector", options.enable_garbage_collector,
               "Leave owners' finalizers to a garbage collector; off: there is none")
      ->capture_default_str();
  app.add_option("--encryption-provider-config", options.encryption_provider_config,
                 "File with the providers that encrypt objects at rest");
  app.add_flag("--encryption-provider-config-automatic-reload",
               options.encryption_provider_config_automatic_reload,
               "Use the file set by --encryption-provider-config anew when it changes");
  app.add_option("--kubeconfig-out", options.kubeconfig_out,
                 "Where to write the kubeconfig (default: <data-dir>/kubeconfig)");
  app.add_flag("--standalone,!--no-standalone", options.standalone,
               "Be a server of its own, with an authority and an administrator of its own");
  app.add_option("-v,--v", options.v, "Log verbosity")->capture_default_str();
}

void AddTlsOptions(CLI::App& app, Options& options) {
  const auto read_pairs = [&options](const CLI::results_t& texts) {
    for (const std::string& text : texts) {
      auto pair = apiserver::server::ParseSniCertificateFiles(text);
      if (!pair.ok()) {
        throw CLI::ValidationError("--tls-sni-cert-key", std::string(pair.status().message()));
      }
      options.tls_sni_cert_keys.push_back(*std::move(pair));
    }
    return true;
  };
  app.add_option("--tls-sni-cert-key", read_pairs,
                 "PEM files of a certificate and its key for some names, e.g. foo.crt,foo.key or "
                 "foo.crt,foo.key:*.foo.com,foo.com; may be repeated")
      ->type_name("FILES")
      ->expected(1, 100)
      ->take_all();
  app.add_option("--tls-cipher-suites", options.tls_cipher_suites,
                 "Suites of TLS 1.2 by IANA's names, separated by commas (default: all safe ones)")
      ->delimiter(',');
  app.add_option("--tls-min-version", options.tls_min_version,
                 "VersionTLS12 or VersionTLS13 (default: VersionTLS12)");
  app.add_option(
      "--client-ca-file", options.client_ca_file,
      "PEM file of further authorities of client certificates; followed when it changes");
}

void AddEtcdOptions(CLI::App& app, Options& options) {
  app.add_option("--etcd-servers", options.etcd_servers,
                 "The members of one etcd, e.g. http://127.0.0.1:2379, separated by commas")
      ->delimiter(',');
  app.add_option("--etcd-prefix", options.etcd_prefix, "What all keys begin with")
      ->capture_default_str();
  app.add_option("--etcd-cafile", options.etcd_cafile,
                 "PEM file of the authorities that https servers of etcd are signed by");
  app.add_option("--etcd-certfile", options.etcd_certfile, "PEM file of our certificate for etcd");
  app.add_option("--etcd-keyfile", options.etcd_keyfile, "PEM file of its key");
  AddDuration(app, "--etcd-compaction-interval", options.etcd_compaction_interval,
              "How often etcd's history is compacted; 0: not by this server (default: 5m)");
  AddDuration(app, "--etcd-healthcheck-timeout", options.etcd_healthcheck_timeout,
              "Within which etcd must answer for this server to be ready (default: 2s)");
}

// One line that says what is wrong; empty: nothing.
std::string Problem(const Options& options) {
  if (options.storage != "rocks" && options.storage != "memory" && options.storage != "etcd") {
    return "--storage=" + options.storage + " is unknown; use rocks, memory or etcd";
  }
  if (options.storage == "etcd" && options.etcd_servers.empty()) {
    return "--storage=etcd needs --etcd-servers, e.g. --etcd-servers=http://127.0.0.1:2379";
  }
  if (options.storage != "etcd" && !options.etcd_servers.empty()) {
    return "--etcd-servers and --storage=" + options.storage + " exclude each other";
  }
  if (options.etcd_certfile.empty() != options.etcd_keyfile.empty()) {
    return "--etcd-certfile and --etcd-keyfile go together";
  }
  if (options.etcd_prefix.empty() || options.etcd_prefix[0] != '/') {
    return "--etcd-prefix must begin with a slash";
  }
  if (options.etcd_healthcheck_timeout.count() <= 0) {
    return "--etcd-healthcheck-timeout must be positive";
  }
  if (!options.standalone && !options.kubeconfig_out.empty()) {
    return "--kubeconfig-out is for a standalone server: with --no-standalone users have the "
           "cluster's kubeconfig; leave it out, or leave out --no-standalone";
  }
  if (options.encryption_provider_config_automatic_reload &&
      options.encryption_provider_config.empty()) {
    return "--encryption-provider-config-automatic-reload must be set with "
           "--encryption-provider-config";
  }
  return "";
}

}  // namespace

void AddServerFlags(examples::CliFlags& flags, Options& options, const Parts& parts) {
  AddOptions(flags.app(), options);
  AddTlsOptions(flags.app(), options);
  AddEtcdOptions(flags.app(), options);
  for (const auto& part : parts) part->AddFlags(flags);
}

std::string FinishFlags(Options& options, const Parts& parts) {
  if (options.storage.empty()) options.storage = options.etcd_servers.empty() ? "rocks" : "etcd";
  std::string problem = Problem(options);
  for (const auto& part : parts) {
    if (problem.empty()) problem = part->Problem(options);
  }
  return problem;
}

Parsed ParseCommandLine(int argc, const char* const* argv) {
  Parsed parsed;
  CLI::App app("A Kubernetes-style API server for the group wardle.example.com",
               argc > 0 ? argv[0] : "");
  examples::CliFlags flags(app);
  parsed.parts = AllParts();
  AddServerFlags(flags, parsed.options, parsed.parts);
  try {
    flags.Parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit = true;
    parsed.exit_code = app.exit(error);
    return parsed;
  }
  if (const std::string problem = FinishFlags(parsed.options, parsed.parts); !problem.empty()) {
    std::cerr << "error: " << problem << "\n";
    parsed.exit = true;
    parsed.exit_code = 1;
    return parsed;
  }
  Options& options = parsed.options;
  if (options.data_dir.empty()) options.data_dir = DefaultDataDir();
  if (options.cert_dir.empty()) options.cert_dir = options.data_dir;
  if (options.kubeconfig_out.empty()) options.kubeconfig_out = options.data_dir + "/kubeconfig";
  return parsed;
}

}  // namespace sample
