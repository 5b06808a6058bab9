#include "apiserver/client/kubeconfig.h"

#include <optional>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "base/status_macros.h"
#include "text/base64.h"

namespace apiserver::v0::client {
namespace {

using runtime::Value;

std::string Base64(std::string_view bytes) {
  std::string text;
  text::AppendBase64(bytes, text);
  return text;
}

// Quotes a text for YAML, of which JSON's strings are valid scalars.
std::string Quoted(std::string_view text) {
  std::string quoted;
  codec::AppendJsonString(text, quoted);
  return quoted;
}

// Returns the entry of `list` with this name, under `key`.
Value Named(Value list, std::string_view name, std::string_view key) {
  for (const Value& entry : list.items()) {
    if (entry["name"].AsString() == name) return entry[key];
  }
  return {};
}

Result<std::string> Decoded(Value data, std::string_view field) {
  std::optional<std::string> bytes = text::DecodeBase64(data.AsString());
  if (!bytes) {
    return Status(Reason::kInvalid, "kubeconfig: " + std::string(field) + " is not base64");
  }
  return *std::move(bytes);
}

}  // namespace

std::string WriteKubeconfig(const Kubeconfig& config) {
  const std::string cluster = Quoted(config.cluster_name);
  const std::string user = Quoted(config.user_name);
  std::string text =
      "apiVersion: v1\nkind: Config\ncurrent-context: default\npreferences: {}\nclusters:\n- "
      "name: " +
      cluster + "\n  cluster:\n    server: " + Quoted(config.server) + "\n";
  if (!config.tls_server_name.empty()) {
    text += "    tls-server-name: " + Quoted(config.tls_server_name) + "\n";
  }
  if (!config.ca_pem.empty()) {
    text += "    certificate-authority-data: " + Base64(config.ca_pem) + "\n";
  }
  text += "contexts:\n- name: default\n  context:\n    cluster: " + cluster +
          "\n    user: " + user + "\nusers:\n- name: " + user + "\n  user:\n";
  if (!config.client_certificate_pem.empty()) {
    text += "    client-certificate-data: " + Base64(config.client_certificate_pem) + "\n";
    text += "    client-key-data: " + Base64(config.client_key_pem) + "\n";
  }
  if (!config.token.empty()) text += "    token: " + Quoted(config.token) + "\n";
  return text;
}

Result<Kubeconfig> ReadKubeconfig(std::string_view text) {
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value root, codec::ParseYaml(text, arena));
  const std::string_view current = root["current-context"].AsString();
  const Value context = Named(root["contexts"], current, "context");
  if (context.is_null()) {
    return Status(Reason::kInvalid,
                  "kubeconfig: there is no context \"" + std::string(current) + "\"");
  }
  Kubeconfig config;
  config.cluster_name = context["cluster"].AsString();
  config.user_name = context["user"].AsString();
  const Value cluster = Named(root["clusters"], config.cluster_name, "cluster");
  const Value user = Named(root["users"], config.user_name, "user");
  config.server = cluster["server"].AsString();
  if (config.server.empty()) {
    return Status(Reason::kInvalid,
                  "kubeconfig: cluster \"" + config.cluster_name + "\" names no server");
  }
  config.tls_server_name = cluster["tls-server-name"].AsString();
  config.token = user["token"].AsString();
  ASSIGN_OR_RETURN(config.ca_pem,
                   Decoded(cluster["certificate-authority-data"], "certificate-authority-data"));
  ASSIGN_OR_RETURN(config.client_certificate_pem,
                   Decoded(user["client-certificate-data"], "client-certificate-data"));
  ASSIGN_OR_RETURN(config.client_key_pem, Decoded(user["client-key-data"], "client-key-data"));
  // Without it every call would be anonymous.
  if (!user["exec"].is_null() && config.token.empty() && config.client_certificate_pem.empty()) {
    return Status(Reason::kInvalid,
                  "kubeconfig: exec: only ReadClientConfig() knows credential plug-ins");
  }
  return config;
}

Status WriteKubeconfigFile(FileSystem& files, const std::string& path, const Kubeconfig& config) {
  // It may hold a key or a token.
  constexpr unsigned kOwnerOnly = 0600;
  return files.WriteAtomically(path, WriteKubeconfig(config), kOwnerOnly);
}

Result<Kubeconfig> ReadKubeconfigFile(const FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, files.Read(path));
  return ReadKubeconfig(text);
}

}  // namespace apiserver::v0::client
