#include "apiserver/client/client_config.h"

#include <array>
#include <optional>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/yaml.h"
#include "base/status_macros.h"
#include "codec/base64.h"

namespace apiserver::inline v0::client {
namespace {

using runtime::Value;

constexpr std::string_view kServiceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

Status BadKubeconfig(const std::string& what) {
  return Status(Reason::kInvalid, "kubeconfig: " + what);
}

// The entry of `list` whose name is `name`, under `key`; null: none.
Value EntryOf(Value list, std::string_view name, std::string_view key) {
  for (const Value& entry : list.items()) {
    if (entry["name"].AsString() == name) return entry[key];
  }
  return {};
}

// `field` of `map` as a file's name, "<field>-data" as its content.
Status TakeFile(Value map, const std::string& field, const std::string& folder, std::string& file,
                std::string& data) {
  file = map[field].AsString();
  if (!file.empty() && !file.starts_with('/')) file = folder + "/" + file;
  const std::string data_field = field + "-data";
  std::optional<std::string> decoded = codec::DecodeBase64(map[data_field].AsString());
  if (!decoded) return BadKubeconfig(data_field + " is not base64");
  data = *std::move(decoded);
  if (!data.empty()) file.clear();
  return Status::Ok();
}

bool IsSet(Value value) {
  return !value.is_null() && !(value.is_string() && value.AsString().empty()) &&
         !(value.type() == Value::Type::kBool && !value.AsBool());
}

template <std::size_t N>
Status Refuse(Value map, const std::array<std::pair<std::string_view, std::string_view>, N>& no) {
  for (const auto& [field, why] : no) {
    if (IsSet(map[field])) return BadKubeconfig(std::string(field) + ": " + std::string(why));
  }
  return Status::Ok();
}

Status TakeCluster(Value cluster, const std::string& folder, ClientConfig& config) {
  using Row = std::pair<std::string_view, std::string_view>;
  static constexpr std::array kNo = {
      Row("insecure-skip-tls-verify",
          "a server whose certificate is not verified is not called; give its "
          "certificate-authority instead"),
      Row("proxy-url", "proxies are not supported"),
  };
  RETURN_IF_ERROR(Refuse(cluster, kNo));
  config.server = cluster["server"].AsString();
  if (config.server.empty()) return BadKubeconfig("the cluster names no server");
  if (!config.server.starts_with("https://")) {
    return BadKubeconfig("server " + field::Quote(config.server) +
                         ": 'https' is the only allowed URL scheme");
  }
  config.server_name = cluster["tls-server-name"].AsString();
  return TakeFile(cluster, "certificate-authority", folder, config.ca_file, config.ca_pem);
}

Status TakeUser(Value user, const std::string& folder, ClientConfig& config) {
  using Row = std::pair<std::string_view, std::string_view>;
  static constexpr std::array kNo = {
      Row("exec", "credential plug-ins are not supported"),
      Row("auth-provider", "auth provider not supported"),
      Row("username", "user names with passwords are not supported; use a token or a certificate"),
      Row("as", "impersonation is not supported"),
  };
  RETURN_IF_ERROR(Refuse(user, kNo));
  RETURN_IF_ERROR(TakeFile(user, "client-certificate", folder, config.certificate_file,
                           config.certificate_pem));
  RETURN_IF_ERROR(TakeFile(user, "client-key", folder, config.key_file, config.key_pem));
  const bool certificate = !config.certificate_file.empty() || !config.certificate_pem.empty();
  const bool key = !config.key_file.empty() || !config.key_pem.empty();
  if (certificate != key) return BadKubeconfig("client-certificate and client-key come together");
  config.token = user["token"].AsString();
  if (!config.token.empty()) return Status::Ok();
  config.token_file = user["tokenFile"].AsString();
  if (!config.token_file.empty() && !config.token_file.starts_with('/')) {
    config.token_file = folder + "/" + config.token_file;
  }
  return Status::Ok();
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace

Result<ClientConfig> ReadClientConfig(std::string_view kubeconfig, const std::string& folder) {
  runtime::Arena arena;
  auto root = codec::ParseYaml(kubeconfig, arena);
  if (!root.ok()) return BadKubeconfig(std::string(root.status().message()));
  const std::string_view current = (*root)["current-context"].AsString();
  if (current.empty()) return BadKubeconfig("there is no current-context");
  const Value context = EntryOf((*root)["contexts"], current, "context");
  if (context.is_null()) return BadKubeconfig("there is no context " + field::Quote(current));
  const std::string_view cluster_name = context["cluster"].AsString();
  const Value cluster = EntryOf((*root)["clusters"], cluster_name, "cluster");
  if (cluster.is_null()) return BadKubeconfig("there is no cluster " + field::Quote(cluster_name));
  ClientConfig config;
  RETURN_IF_ERROR(TakeCluster(cluster, folder, config));
  const std::string_view user_name = context["user"].AsString();
  if (user_name.empty()) return config;
  const Value user = EntryOf((*root)["users"], user_name, "user");
  if (user.is_null()) return BadKubeconfig("there is no user " + field::Quote(user_name));
  RETURN_IF_ERROR(TakeUser(user, folder, config));
  return config;
}

Result<ClientConfig> ReadClientConfigFile(const FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, files.Read(path));
  auto config = ReadClientConfig(text, FolderOf(path));
  if (config.ok()) return config;
  return config.status().WithMessage(path + ": " + std::string(config.status().message()));
}

Result<ClientConfig> InClusterClientConfig(const FileSystem& files, std::string_view host,
                                           std::string_view port) {
  if (host.empty() || port.empty()) {
    return Status(Reason::kNotFound,
                  "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
                  "KUBERNETES_SERVICE_PORT must be defined");
  }
  const std::string folder(kServiceAccountFolder);
  ClientConfig config;
  config.token_file = folder + "/token";
  if (!files.Exists(config.token_file)) {
    return Status(Reason::kNotFound,
                  "unable to load in-cluster configuration: there is no " + config.token_file);
  }
  if (files.Exists(folder + "/ca.crt")) config.ca_file = folder + "/ca.crt";
  const bool v6 = host.find(':') != std::string_view::npos;
  config.server = "https://" + (v6 ? "[" + std::string(host) + "]" : std::string(host)) + ":" +
                  std::string(port);
  return config;
}

}  // namespace apiserver::inline v0::client
