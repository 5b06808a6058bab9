#include "program/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "program/commands.h"

namespace apiserver::v0::program {

namespace {

// The program's standard output, for --audit-log-path=-. The rest of the library writes to no
// stream of its host.
class StandardOutput final : public audit::LineWriter {
 public:
  Status Write(std::string_view lines) override {
    const bool written = std::fwrite(lines.data(), 1, lines.size(), stdout) == lines.size() &&
                         std::fflush(stdout) == 0;
    if (written) return {};
    return {Reason::kInternalError, "cannot write to standard output"};
  }
};

std::string DefaultDataDir(const std::string& name) {
  // NOLINTBEGIN(concurrency-mt-unsafe): there is one thread yet
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data) {
    return std::string(data) + "/" + name;
  }
  const char* home = std::getenv("HOME");
  // NOLINTEND(concurrency-mt-unsafe)
  return std::string(home ? home : ".") + "/.local/share/" + name;
}

// These are not kube-apiserver's, which has its objects in etcd only.
void AddOwnFlags(CliFlags& flags, Values& values) {
  CLI::App& app = flags.app();
  flags.BeginSection("Generic");
  flags.Show(*app.add_option("--storage", values.storage,
                             "Where objects live: rocks, memory or etcd (default: rocks, and etcd "
                             "with --etcd-servers)"));
  flags.Show(*app.add_option(
      "--data-dir", values.data_dir,
      "Where objects, keys and the kubeconfig live (default: " + values.default_data_dir + ")"));
  flags.Show(*app.add_option("--kubeconfig-out", values.kubeconfig_out,
                             "Where to write the kubeconfig (default: <data-dir>/kubeconfig)"));
  values.explorer_flag = flags.Add(
      {.name = "--explorer",
       .value = &values.explorer,
       .help =
           "Serve a web page at /explorer/ that shows and edits objects; the page is public, the "
           "objects are not (default: true, and false behind an aggregator)",
       .off_name = "--no-explorer"});
}

void AddLogFlags(CliFlags& flags, Values& values) {
  flags.BeginSection("Logs");
  flags.Show(*flags.app().add_option("-v,--v", values.v, "Log verbosity")->capture_default_str());
}

// The flags that every program has; kube-apiserver shows them last, too.
void AddGlobalFlags(CliFlags& flags, const Program& program) {
  CLI::App& app = flags.app();
  flags.BeginSection("Global");
  flags.AddConfigFlag();
  flags.Show(*app.set_help_flag("-h,--help", "Print this help and exit"));
  const std::string version = program.name + " " + program.version + " (libapiserver " +
                              APISERVER_VERSION + ", Kubernetes " +
                              server::VersionInfo().git_version + ")";
  flags.Show(*app.set_version_flag("--version", version, "Print the version and exit"));
}

// Returns the end of the help.
std::string CommandsHelp() {
  std::size_t width = 0;
  for (const Command& command : kCommands) width = std::max(width, command.name.size());
  std::string text = "Commands:";
  for (const Command& command : kCommands) {
    text += "\n  " + std::string(command.name) + std::string(width + 3 - command.name.size(), ' ') +
            std::string(command.help);
  }
  return text;
}

// Returns one line about the first mistake in the program's own flags. Empty: there is none.
std::string Problem(const Values& values) {
  const bool servers = !values.recommended.etcd.servers.empty();
  if (values.storage != "rocks" && values.storage != "memory" && values.storage != "etcd") {
    return "--storage=" + values.storage + " is unknown; use rocks, memory or etcd";
  }
  if (values.storage == "etcd" && !servers) {
    return "--storage=etcd needs --etcd-servers, e.g. --etcd-servers=http://127.0.0.1:2379";
  }
  if (values.storage != "etcd" && servers) {
    return "--etcd-servers and --storage=" + values.storage + " exclude each other";
  }
  if (!values.recommended.standalone && !values.kubeconfig_out.empty()) {
    return "--kubeconfig-out is for a standalone server: with --no-standalone users have the "
           "cluster's kubeconfig; leave it out, or leave out --no-standalone";
  }
  return "";
}

}  // namespace

// Defaults that depend on the program; everything else has its default in the options.
Values::Values(const Program& program)
    : default_data_dir(DefaultDataDir(program.name)),
      add_program_flags(program.add_flags),
      validate_program_flags(program.validate) {
  recommended.etcd.prefix = program.etcd_prefix;
  for (const auto& plugin : program.admission) {
    recommended.admission.own_plugins.emplace_back(plugin->name());
  }
  recommended.admission.namespaces = program.namespaces;
  recommended.core_api.wanted = true;
  recommended.audit.values.standard_output = [] { return std::make_unique<StandardOutput>(); };
}

void AddServerFlags(CliFlags& flags, Values& values) {
  AddOwnFlags(flags, values);
  values.recommended.AddFlags(flags);
  if (values.add_program_flags) values.add_program_flags(flags);
  AddLogFlags(flags, values);
}

// Returns one problem; the user mends them one by one.
std::string FinishFlags(Values& values) {
  if (values.storage.empty()) {
    values.storage = values.recommended.etcd.servers.empty() ? "rocks" : "etcd";
  }
  if (!values.recommended.standalone && !values.explorer_flag->given) values.explorer = false;
  if (std::string problem = Problem(values); !problem.empty()) return problem;
  std::vector<std::string> problems = values.recommended.Validate();
  if (problems.empty() && values.validate_program_flags) {
    problems = values.validate_program_flags(values.recommended);
  }
  if (!problems.empty()) return problems.front();
  std::string& cert_dir = values.recommended.secure_serving.cert_dir;
  if (values.data_dir.empty()) values.data_dir = values.default_data_dir;
  if (cert_dir.empty()) cert_dir = values.data_dir;
  if (values.kubeconfig_out.empty()) values.kubeconfig_out = values.data_dir + "/kubeconfig";
  return "";
}

std::vector<FlagText> FlagTexts(const Program& program) {
  Values values(program);
  CLI::App app;
  CliFlags flags(app);
  AddServerFlags(flags, values);
  AddGlobalFlags(flags, program);
  return flags.Texts();
}

// Parses with CLI11, whose habits CliFlags bends to those of pflag.
CommandLine ParseCommandLine(int argc, const char* const* argv, const Program& program) {
  CommandLine line{.values = Values(program), .reading = {}};
  Values& values = line.values;
  CLI::App app(program.description.empty() ? "The API server " + program.name : program.description,
               argc > 0 ? argv[0] : program.name);
  app.footer(CommandsHelp());
  CliFlags flags(app);
  AddServerFlags(flags, values);
  AddGlobalFlags(flags, program);
  line.reading = flags.Parse(argc, argv);
  if (line.reading.exit) return line;
  if (const std::string problem = FinishFlags(values); !problem.empty()) {
    line.reading = Refused(problem);
    return line;
  }
  return line;
}

}  // namespace apiserver::v0::program
