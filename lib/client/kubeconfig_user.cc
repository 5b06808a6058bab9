#include "client/kubeconfig_user.h"

#include <optional>

#include "base/status_macros.h"
#include "text/base64.h"

namespace apiserver::v0::client {

using runtime::Value;

Status BadKubeconfig(const std::string& what) {
  return Status(Reason::kInvalid, "kubeconfig: " + what);
}

bool IsSetField(Value value) {
  return !value.is_null() && !(value.is_string() && value.AsString().empty()) &&
         !(value.type() == Value::Type::kBool && !value.AsBool());
}

Status TakeFile(Value map, const std::string& field, const std::string& folder, std::string& file,
                std::string& data) {
  file = map[field].AsString();
  if (!file.empty() && !file.starts_with('/')) file = folder + "/" + file;
  const std::string data_field = field + "-data";
  std::optional<std::string> decoded = text::DecodeBase64(map[data_field].AsString());
  if (!decoded) return BadKubeconfig(data_field + " is not base64");
  data = *std::move(decoded);
  // Data in the kubeconfig overrides a file, as in clientcmd.
  if (!data.empty()) file.clear();
  return Status::Ok();
}

Status TakeUser(Value user, const std::string& folder, ClientConfig& config) {
  static constexpr std::array kNo = {
      RefusedField("auth-provider", "auth provider not supported"),
      RefusedField("as", "impersonation is not supported"),
      RefusedField("as-uid", "impersonation is not supported"),
      RefusedField("as-groups", "impersonation is not supported"),
      RefusedField("as-user-extra", "impersonation is not supported"),
  };
  RETURN_IF_ERROR(RefuseFields(user, kNo));
  RETURN_IF_ERROR(TakeFile(user, "client-certificate", folder, config.certificate_file,
                           config.certificate_pem));
  RETURN_IF_ERROR(TakeFile(user, "client-key", folder, config.key_file, config.key_pem));
  const bool certificate = !config.certificate_file.empty() || !config.certificate_pem.empty();
  const bool key = !config.key_file.empty() || !config.key_pem.empty();
  if (certificate != key) return BadKubeconfig("client-certificate and client-key come together");
  config.username = user["username"].AsString();
  config.password = user["password"].AsString();
  config.token = user["token"].AsString();
  if (config.token.empty()) {
    config.token_file = user["tokenFile"].AsString();
    if (!config.token_file.empty() && !config.token_file.starts_with('/')) {
      config.token_file = folder + "/" + config.token_file;
    }
  }
  const bool basic = !config.username.empty() || !config.password.empty();
  const bool bearer = !config.token.empty() || !config.token_file.empty();
  if (basic && bearer) {
    return BadKubeconfig("username/password or bearer token may be set, but not both");
  }
  return Status::Ok();
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace apiserver::v0::client
