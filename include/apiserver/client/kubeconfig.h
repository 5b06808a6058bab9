#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::client {

// A server and a user: the part of a kubeconfig file that programs need.
struct Kubeconfig {
  std::string server = "";                  // "https://127.0.0.1:6443".
  std::string tls_server_name = "";         // The name its certificate must have; empty: its host.
  std::string ca_pem = "";                  // Empty: the system's authorities.
  std::string client_certificate_pem = "";  // With client_key_pem, or both empty.
  std::string client_key_pem = "";
  std::string token = "";
  std::string cluster_name = "local";
  std::string user_name = "admin";
};

// Returns the file's text, with all data inside; context "default" is the current one.
std::string WriteKubeconfig(const Kubeconfig& config);
// Reads the current context of a kubeconfig; its data must be inside the file. kInvalid: something
// is missing or malformed, or the user's credentials come from a plug-in (exec).
Result<Kubeconfig> ReadKubeconfig(std::string_view text);

// Writes it to a file that only its owner can read, and that is never seen half-written.
Status WriteKubeconfigFile(FileSystem& files, const std::string& path, const Kubeconfig& config);
// Reads it from a file. Errors are FileSystem's too.
Result<Kubeconfig> ReadKubeconfigFile(const FileSystem& files, const std::string& path);

}  // namespace apiserver::inline v0::client
