#include "client/exec_plug_in.h"

#include <chrono>
#include <string_view>

#include "base/child_process.h"
#include "base/status_macros.h"

namespace apiserver::v0::client {
namespace {

constexpr std::string_view kExecInfoVariable = "KUBERNETES_EXEC_INFO";
constexpr std::string_view kInstallHelp =
    "\n\nIt looks like you are trying to use a client-go credential plugin that is not installed."
    "\n\nTo learn more about this feature, consult the documentation available at:\n"
    "      https://kubernetes.io/docs/reference/access-authn-authz/authentication/"
    "#client-go-credential-plugins";
// As client-go: a server's log is not filled with the help.
constexpr std::size_t kHintsMax = 10;
constexpr auto kHintsInterval = std::chrono::hours(1);

Status NoCredentials(const Status& why) {
  const Reason reason =
      why.reason() == Reason::kTimeout ? Reason::kTimeout : Reason::kServiceUnavailable;
  return {reason, "getting credentials: " + std::string(why.message())};
}

}  // namespace

Result<std::shared_ptr<const ExecCredentials>> ExecPlugIn::Run(const Context& ctx) {
  auto credentials = Output(ctx);
  if (credentials.ok()) return std::make_shared<const ExecCredentials>(*std::move(credentials));
  return NoCredentials(credentials.status());
}

Result<ExecCredentials> ExecPlugIn::Output(const Context& ctx) {
  const ExecConfig& exec = *config_.exec;
  if (exec.interactive_mode == ExecInteractiveMode::kAlways) {
    return Status(Reason::kInvalid,
                  "exec plugin cannot support interactive mode: standard input is unavailable: "
                  "this library gives none to plug-ins");
  }
  const auto path = FindProgram(exec.command);
  if (!path.ok()) return NotFound();
  ASSIGN_OR_RETURN(const ExecCluster cluster, Cluster());
  ChildProgram program = {
      .path = *path, .arguments = {exec.command}, .time_max = exec.run_time_max};
  program.arguments.insert(program.arguments.end(), exec.args.begin(), exec.args.end());
  for (const auto& [name, value] : exec.env) {
    program.environment.emplace_back(name).append("=").append(value);
  }
  program.environment.push_back(std::string(kExecInfoVariable) + "=" + ExecInfo(exec, cluster));
  const ChildEnd end = RunChild(ctx, program);
  LogErrors(end.errors);
  const std::string executable = "exec: executable " + exec.command;
  if (!end.status.ok()) {
    return end.status.WithMessage(executable + ": " + std::string(end.status.message()));
  }
  if (end.exit_code != 0) {
    return Status(Reason::kServiceUnavailable,
                  executable + " failed with exit code " + std::to_string(end.exit_code));
  }
  return ReadExecCredential(end.output, exec);
}

Result<ExecCluster> ExecPlugIn::Cluster() const {
  ExecCluster cluster = {.server = config_.server, .server_name = config_.server_name};
  if (!config_.exec->provide_cluster_info) return cluster;
  cluster.ca_pem = config_.ca_pem;
  if (!cluster.ca_pem.empty() || config_.ca_file.empty()) return cluster;
  auto ca = deps_.files->Read(config_.ca_file);
  if (!ca.ok()) {
    return ca.status().WithMessage("failed to load CA bundle for execProvider: " +
                                   std::string(ca.status().message()));
  }
  cluster.ca_pem = *std::move(ca);
  return cluster;
}

// client-go lets plug-ins write to the standard error of the program itself.
void ExecPlugIn::LogErrors(const std::string& errors) const {
  if (errors.empty()) return;
  Log(*deps_.log, LogLevel::kWarning, "a credential plug-in has written to its standard error",
      {{"command", config_.exec->command}, {"text", errors}});
}

Status ExecPlugIn::NotFound() {
  std::string why = "exec: executable " + config_.exec->command + " not found";
  const auto now = deps_.clock->Now();
  if (hints_ == 0 || now - hints_since_ >= kHintsInterval) {
    hints_ = 0;
    hints_since_ = now;
  }
  if (hints_ < kHintsMax) {
    ++hints_;
    why += kInstallHelp;
    if (!config_.exec->install_hint.empty()) why += "\n\n" + config_.exec->install_hint;
  }
  return {Reason::kServiceUnavailable, why};
}

}  // namespace apiserver::v0::client
