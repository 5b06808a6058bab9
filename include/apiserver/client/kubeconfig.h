#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::client {

// How to reach one server as one user: the part of a kubeconfig file that programs need.
struct Kubeconfig {
  std::string server = "";                  // "https://127.0.0.1:6443".
  std::string tls_server_name = "";         // What its certificate is for; empty: its host.
  std::string ca_pem = "";                  // Empty: the system's authorities.
  std::string client_certificate_pem = "";  // With client_key_pem, or both empty.
  std::string client_key_pem = "";
  std::string token = "";
  std::string cluster_name = "local";
  std::string user_name = "admin";
};

// The file's text, with all data inside; context "default" is the current one.
std::string WriteKubeconfig(const Kubeconfig& config);
// The current context of a kubeconfig; data must stand inside it. kInvalid: what is missing or
// malformed.
Result<Kubeconfig> ReadKubeconfig(std::string_view text);

// The same, with a file: readable by its owner alone, and never seen half-written. Errors of
// reading are FileSystem's too.
Status WriteKubeconfigFile(FileSystem& files, const std::string& path, const Kubeconfig& config);
Result<Kubeconfig> ReadKubeconfigFile(const FileSystem& files, const std::string& path);

}  // namespace apiserver::inline v0::client
