#include "apiserver/client/webhook_users.h"

#include "apiserver/base/field_path.h"
#include "apiserver/codec/yaml.h"
#include "base/status_macros.h"
#include "client/kubeconfig_user.h"

namespace apiserver::v0::client {
namespace {

using runtime::Value;

constexpr std::string_view kCluster = "kubernetes.default.svc:443";
// k8s.io/apiserver's webhooks do not run them either.
constexpr std::array kNoPlugIn = {RefusedField("exec", "credential plug-ins are not supported")};
constexpr std::string_view kHttpsPort = ":443";

// Returns the user of the current context; empty: there is none.
std::string CurrentUser(Value root) {
  const std::string_view current = root["current-context"].AsString();
  for (const Value& context : root["contexts"].items()) {
    if (!current.empty() && context["name"].AsString() == current) {
      return std::string(context["context"]["user"].AsString());
    }
  }
  return "";
}

}  // namespace

Result<WebhookUsers> WebhookUsers::Read(std::string_view kubeconfig, const std::string& folder) {
  runtime::Arena arena;
  const auto root = codec::ParseYaml(kubeconfig, arena);
  if (!root.ok()) return BadKubeconfig(std::string(root.status().message()));
  if (!root->is_map()) return BadKubeconfig("it is no object with users");
  const Value entries = (*root)["users"];
  if (!entries.is_null() && !entries.is_list()) return BadKubeconfig("users is no list");
  WebhookUsers users;
  for (const Value& entry : entries.items()) {
    const std::string name(entry["name"].AsString());
    if (name.empty()) return BadKubeconfig("a user has no name");
    ClientConfig user;
    Status taken = TakeUser(entry["user"], folder, user);
    if (taken.ok()) taken = RefuseFields(entry["user"], kNoPlugIn);
    if (!taken.ok()) {
      return taken.WithMessage(std::string(taken.message()) + " (user " + field::Quote(name) + ")");
    }
    if (!users.users_.emplace(name, std::move(user)).second) {
      return BadKubeconfig("there are two users " + field::Quote(name));
    }
  }
  users.current_ = CurrentUser(*root);
  return users;
}

Result<WebhookUsers> WebhookUsers::ReadFile(const FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, files.Read(path));
  auto users = Read(text, FolderOf(path));
  if (!users.ok()) {
    return users.status().WithMessage(path + ": " + std::string(users.status().message()));
  }
  for (const auto& [name, user] : users->users_) {
    for (const auto* file : {&user.certificate_file, &user.key_file, &user.token_file}) {
      if (file->empty() || files.Exists(*file)) continue;
      return Status(Reason::kInvalid, path + ": kubeconfig: there is no file " + *file + " (user " +
                                          field::Quote(name) + ")");
    }
  }
  return users;
}

const ClientConfig* WebhookUsers::Named(std::string_view name) const {
  const auto at = users_.find(name);
  return at == users_.end() ? nullptr : &at->second;
}

const ClientConfig* WebhookUsers::Matching(std::string_view name) const {
  if (const ClientConfig* user = Named(name)) return user;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
       dot = name.find('.', dot + 1)) {
    if (const ClientConfig* user = Named("*" + std::string(name.substr(dot)))) return user;
  }
  return nullptr;
}

// Follows defaultAuthenticationInfoResolver.clientConfig in util/webhook: an exact name, a
// wildcard, the cluster's own server, "*", and then the current context.
const ClientConfig* WebhookUsers::For(std::string_view host_port) const {
  if (const ClientConfig* user = Matching(host_port)) return user;
  if (host_port.ends_with(kHttpsPort)) {
    std::string_view host = host_port.substr(0, host_port.size() - kHttpsPort.size());
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (const ClientConfig* user = Matching(host)) return user;
  }
  if (host_port == kCluster && cluster_) return &*cluster_;
  if (const ClientConfig* user = Named("*")) return user;
  return current_.empty() ? nullptr : Named(current_);
}

}  // namespace apiserver::v0::client
