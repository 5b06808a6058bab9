#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace apiserver::inline v0::client {

// Tells whether a plug-in reads standard input. Plug-ins get none from this library, so that
// kAlways is an error when credentials are needed.
enum class ExecInteractiveMode : std::uint8_t { kNever, kIfAvailable, kAlways };

// A credential plug-in: a program that prints the credentials of a user, as `users[].user.exec` of
// a kubeconfig names it. client-go's clientcmd/api.ExecConfig.
struct ExecConfig {
  // Required. A path if it has a slash, else a program in one of the absolute folders of PATH.
  std::string command = {};
  std::vector<std::string> args = {};
  // Names and values, added to the environment of this process.
  std::vector<std::pair<std::string, std::string>> env = {};
  // Required. "client.authentication.k8s.io/v1" or "client.authentication.k8s.io/v1beta1".
  std::string api_version = {};
  // Shown to the user if there is no such program.
  std::string install_hint = {};
  // True: the plug-in is told which server the credentials are for.
  bool provide_cluster_info = false;
  ExecInteractiveMode interactive_mode = ExecInteractiveMode::kIfAvailable;
  // The extension "client.authentication.k8s.io/exec" of the cluster, in JSON. Empty: none.
  std::string cluster_config_json = {};
  // The limit of one run, after which the program is killed with all processes of its group. Must
  // be positive. client-go has no limit: a plug-in that asks a person may need more than this.
  std::chrono::milliseconds run_time_max = std::chrono::seconds(60);
};

}  // namespace apiserver::inline v0::client
