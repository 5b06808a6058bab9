#include "apiserver/client/client_config.h"

#include <array>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/yaml.h"
#include "base/status_macros.h"
#include "client/exec_authenticator.h"
#include "client/kubeconfig_user.h"
#include "text/go_url.h"

namespace apiserver::v0::client {
namespace {

using runtime::Value;

constexpr std::string_view kServiceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

// Returns the entry of `list` with this name, under `key`. Null: there is none.
Value EntryOf(Value list, std::string_view name, std::string_view key) {
  for (const Value& entry : list.items()) {
    if (entry["name"].AsString() == name) return entry[key];
  }
  return {};
}

// Validates the URL, and writes its scheme in lower case.
Status CheckServer(std::string& server, Cleartext cleartext) {
  const text::Read<text::GoUrl> url = text::ParseGoUrl(server);
  if (!url.ok()) return BadKubeconfig("server: " + url.error().message());
  // The error does not show the URL, whose user may have a password.
  if (url->user) {
    return BadKubeconfig("server names a user in its URL; give username and password instead");
  }
  const auto bad = [&](const std::string& why) {
    return BadKubeconfig("server " + field::Quote(server) + ": " + why);
  };
  const bool cleartext_too = cleartext == Cleartext::kAllowed;
  if (url->scheme != "https" && !(cleartext_too && url->scheme == "http")) {
    return bad(cleartext_too ? "'https' and 'http' are the only allowed URL schemes"
                             : "'https' is the only allowed URL scheme");
  }
  if (url->host.empty()) return bad("host must be specified");
  if (url->force_query || !url->raw_query.empty() || server.find('#') != std::string::npos) {
    return bad("it must be " + url->scheme + "://host[:port][/path]");
  }
  server.replace(0, url->scheme.size(), url->scheme);
  return {};
}

Status TakeCluster(Value cluster, const std::string& folder, Cleartext cleartext,
                   ClientConfig& config) {
  static constexpr std::array kNo = {
      RefusedField("insecure-skip-tls-verify",
                   "a server whose certificate is not verified is not called; give its "
                   "certificate-authority instead"),
      RefusedField("proxy-url", "proxies are not supported"),
  };
  RETURN_IF_ERROR(RefuseFields(cluster, kNo));
  config.server = cluster["server"].AsString();
  if (config.server.empty()) return BadKubeconfig("the cluster names no server");
  RETURN_IF_ERROR(CheckServer(config.server, cleartext));
  config.server_name = cluster["tls-server-name"].AsString();
  return TakeFile(cluster, "certificate-authority", folder, config.ca_file, config.ca_pem);
}

}  // namespace

Result<ClientConfig> ReadClientConfig(std::string_view kubeconfig, const std::string& folder,
                                      Cleartext cleartext, ExecPlugIns plug_ins) {
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
  RETURN_IF_ERROR(TakeCluster(cluster, folder, cleartext, config));
  const std::string_view user_name = context["user"].AsString();
  // As clientcmd: calls of a context without a user are anonymous.
  if (user_name.empty()) return config;
  const Value user = EntryOf((*root)["users"], user_name, "user");
  if (user.is_null()) return BadKubeconfig("there is no user " + field::Quote(user_name));
  RETURN_IF_ERROR(TakeUser(user, folder, config));
  RETURN_IF_ERROR(TakeExec({user, user_name, cluster}, folder, config));
  if (plug_ins == ExecPlugIns::kRefused && UsesExec(config)) {
    return BadKubeconfig("exec: credential plug-ins are not allowed here");
  }
  return config;
}

Result<ClientConfig> ReadClientConfigFile(const FileSystem& files, const std::string& path,
                                          Cleartext cleartext, ExecPlugIns plug_ins) {
  ASSIGN_OR_RETURN(const std::string text, files.Read(path));
  auto config = ReadClientConfig(text, FolderOf(path), cleartext, plug_ins);
  if (config.ok()) return config;
  return config.status().WithMessage(path + ": " + std::string(config.status().message()));
}

void WarnOfCleartext(const ClientConfig& config, std::string_view what, LogSink& log) {
  if (!config.server.starts_with("http://")) return;
  Log(log, LogLevel::kWarning,
      "a webhook is called without TLS: what it is sent, credentials too, can be read, and its "
      "answers made up, by whoever stands between",
      {{"config", std::string(what)}, {"server", config.server}});
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
  // As client-go: without the file the machine's authorities count.
  if (files.Exists(folder + "/ca.crt")) config.ca_file = folder + "/ca.crt";
  const bool v6 = host.find(':') != std::string_view::npos;
  config.server = "https://" + (v6 ? "[" + std::string(host) + "]" : std::string(host)) + ":" +
                  std::string(port);
  return config;
}

}  // namespace apiserver::v0::client
