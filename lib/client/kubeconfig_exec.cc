#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"
#include "base/status_macros.h"
#include "client/kubeconfig_user.h"

// The plug-in of a kubeconfig's user, checked as by clientcmd's validateAuthInfo.
namespace apiserver::v0::client {
namespace {

using runtime::Value;

constexpr std::string_view kVersion1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kVersion1Beta1 = "client.authentication.k8s.io/v1beta1";
constexpr std::string_view kExtension = "client.authentication.k8s.io/exec";

Status BadExec(const std::string& what, std::string_view user) {
  return BadKubeconfig(what + " for " + std::string(user) + " to use exec authentication plugin");
}

// Returns a text for a program, in which NUL would be the end.
Result<std::string> TextForProgram(Value value, const std::string& field) {
  if (!value.is_null() && !value.is_string()) {
    return BadKubeconfig("exec: " + field + " is no string");
  }
  std::string text(value.AsString());
  if (text.find('\0') == std::string::npos) return text;
  return BadKubeconfig("exec: " + field + " contains NUL");
}

// As clientcmd's cleanANSIEscapeCodes: a hint must not drive the terminal that shows it.
std::string WithoutEscapes(std::string_view hint) {
  std::string clean;
  for (std::size_t at = 0; at < hint.size(); ++at) {
    const auto byte = static_cast<unsigned char>(hint[at]);
    const auto next = static_cast<unsigned char>(at + 1 < hint.size() ? hint[at + 1] : 0);
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      ++at;  // U+0080 to U+009F are controls, too.
      continue;
    }
    const bool space = byte >= '\t' && byte <= '\r';
    if (space || (byte >= 0x20 && byte != 0x7f)) clean += hint[at];
  }
  return clean;
}

Status TakeCommand(Value exec, std::string_view user, const std::string& folder,
                   ExecConfig& taken) {
  ASSIGN_OR_RETURN(std::string command, TextForProgram(exec["command"], "command"));
  if (command.empty()) return BadExec("command must be specified", user);
  const bool path = command.find('/') != std::string::npos;
  if (path && !command.starts_with('/')) command.insert(0, folder + "/");
  taken.command = std::filesystem::path(command).lexically_normal().string();
  for (const Value& arg : exec["args"].items()) {
    ASSIGN_OR_RETURN(std::string text, TextForProgram(arg, "args"));
    taken.args.push_back(std::move(text));
  }
  for (const Value& variable : exec["env"].items()) {
    ASSIGN_OR_RETURN(std::string name, TextForProgram(variable["name"], "env name"));
    ASSIGN_OR_RETURN(std::string value, TextForProgram(variable["value"], "env value"));
    if (name.empty()) return BadExec("env variable name must be specified", user);
    taken.env.emplace_back(std::move(name), std::move(value));
  }
  return Status::Ok();
}

Status TakeVersion(Value exec, std::string_view user, ExecConfig& taken) {
  taken.api_version = exec["apiVersion"].AsString();
  if (taken.api_version.empty()) return BadExec("apiVersion must be specified", user);
  if (taken.api_version == kVersion1 || taken.api_version == kVersion1Beta1) return Status::Ok();
  return BadKubeconfig("exec plugin: invalid apiVersion " + field::Quote(taken.api_version));
}

// As v1.SetDefaults_ExecConfig: only the older version has a default.
Status TakeInteractiveMode(Value exec, std::string_view user, ExecConfig& taken) {
  const std::string mode(exec["interactiveMode"].AsString());
  if (mode == "Never") {
    taken.interactive_mode = ExecInteractiveMode::kNever;
  } else if (mode == "Always") {
    taken.interactive_mode = ExecInteractiveMode::kAlways;
  } else if (mode.empty() && taken.api_version != kVersion1Beta1) {
    return BadExec("interactiveMode must be specified", user);
  } else if (!mode.empty() && mode != "IfAvailable") {
    return BadKubeconfig("invalid interactiveMode for " + std::string(user) + ": " +
                         field::Quote(mode));
  }
  return Status::Ok();
}

std::string ExtensionOf(Value cluster) {
  std::string json;
  for (const Value& entry : cluster["extensions"].items()) {
    if (entry["name"].AsString() != kExtension) continue;
    json.clear();
    codec::AppendJson(entry["extension"], json);
  }
  return json;
}

}  // namespace

Status TakeExec(const ExecEntries& entries, const std::string& folder, ClientConfig& config) {
  const Value exec = entries.user["exec"];
  if (exec.is_null()) return Status::Ok();
  if (!exec.is_map()) return BadKubeconfig("exec is no object");
  ExecConfig taken;
  RETURN_IF_ERROR(TakeCommand(exec, entries.user_name, folder, taken));
  RETURN_IF_ERROR(TakeVersion(exec, entries.user_name, taken));
  RETURN_IF_ERROR(TakeInteractiveMode(exec, entries.user_name, taken));
  taken.install_hint = WithoutEscapes(exec["installHint"].AsString());
  taken.provide_cluster_info = exec["provideClusterInfo"].AsBool();
  taken.cluster_config_json = ExtensionOf(entries.cluster);
  config.exec = std::move(taken);
  return Status::Ok();
}

}  // namespace apiserver::v0::client
