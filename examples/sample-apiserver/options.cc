#include "options.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

namespace sample {

namespace {

using apiserver::Status;

// This program's standard output, for --audit-log-path=-: the library writes to no stream of its
// host's.
class StandardOutput final : public apiserver::audit::LineWriter {
 public:
  Status Write(std::string_view lines) override {
    const bool written = std::fwrite(lines.data(), 1, lines.size(), stdout) == lines.size() &&
                         std::fflush(stdout) == 0;
    if (written) return {};
    return {apiserver::Reason::kInternalError, "cannot write to standard output"};
  }
};

std::string DefaultDataDir() {
  // NOLINTBEGIN(concurrency-mt-unsafe): there is one thread yet
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data) {
    return std::string(data) + "/sample-apiserver";
  }
  const char* home = std::getenv("HOME");
  // NOLINTEND(concurrency-mt-unsafe)
  return std::string(home ? home : ".") + "/.local/share/sample-apiserver";
}

void AddOwnFlags(CLI::App& app, Options& options) {
  app.add_option("--storage", options.storage,
                 "Where objects live: rocks, memory or etcd (default: rocks, and etcd with "
                 "--etcd-servers)");
  app.add_option("--data-dir", options.data_dir,
                 "Where objects, keys and the kubeconfig live (default: " + DefaultDataDir() + ")");
  app.add_option("--kubeconfig-out", options.kubeconfig_out,
                 "Where to write the kubeconfig (default: <data-dir>/kubeconfig)");
  app.add_option("-v,--v", options.v, "Log verbosity")->capture_default_str();
}

// Returns one line about the first mistake in the program's own flags; empty: there is none.
std::string Problem(const Options& options) {
  const bool servers = !options.recommended.etcd.servers.empty();
  if (options.storage != "rocks" && options.storage != "memory" && options.storage != "etcd") {
    return "--storage=" + options.storage + " is unknown; use rocks, memory or etcd";
  }
  if (options.storage == "etcd" && !servers) {
    return "--storage=etcd needs --etcd-servers, e.g. --etcd-servers=http://127.0.0.1:2379";
  }
  if (options.storage != "etcd" && servers) {
    return "--etcd-servers and --storage=" + options.storage + " exclude each other";
  }
  if (!options.recommended.standalone && !options.kubeconfig_out.empty()) {
    return "--kubeconfig-out is for a standalone server: with --no-standalone users have the "
           "cluster's kubeconfig; leave it out, or leave out --no-standalone";
  }
  return "";
}

}  // namespace

Options::Options() {
  recommended.etcd.prefix = "/registry/wardle.example.com";
  recommended.admission.own_plugins = {"BanFlunder"};
  recommended.audit.values.standard_output = [] { return std::make_unique<StandardOutput>(); };
}

void AddServerFlags(examples::CliFlags& flags, Options& options) {
  AddOwnFlags(flags.app(), options);
  options.recommended.AddFlags(flags);
}

std::string FinishFlags(Options& options) {
  if (options.storage.empty()) {
    options.storage = options.recommended.etcd.servers.empty() ? "rocks" : "etcd";
  }
  if (std::string problem = Problem(options); !problem.empty()) return problem;
  const std::vector<std::string> problems = options.recommended.Validate();
  return problems.empty() ? "" : problems.front();
}

Parsed ParseCommandLine(int argc, const char* const* argv) {
  Parsed parsed;
  Options& options = parsed.options;
  CLI::App app("A Kubernetes-style API server for the group wardle.example.com",
               argc > 0 ? argv[0] : "");
  examples::CliFlags flags(app);
  AddServerFlags(flags, options);
  try {
    flags.Parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit = true;
    parsed.exit_code = app.exit(error);
    return parsed;
  }
  if (const std::string problem = FinishFlags(options); !problem.empty()) {
    std::cerr << "error: " << problem << "\n";
    parsed.exit = true;
    parsed.exit_code = 1;
    return parsed;
  }
  std::string& cert_dir = options.recommended.secure_serving.cert_dir;
  if (options.data_dir.empty()) options.data_dir = DefaultDataDir();
  if (cert_dir.empty()) cert_dir = options.data_dir;
  if (options.kubeconfig_out.empty()) options.kubeconfig_out = options.data_dir + "/kubeconfig";
  return parsed;
}

}  // namespace sample
