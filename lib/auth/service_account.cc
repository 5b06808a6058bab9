#include "apiserver/auth/service_account.h"

#include "apiserver/meta/validation.h"

namespace apiserver::v0::auth::serviceaccount {

std::string MakeUsername(std::string_view namespace_, std::string_view name) {
  std::string username(kUsernamePrefix);
  username.append(namespace_).append(":").append(name);
  return username;
}

std::optional<AccountName> SplitUsername(std::string_view username) {
  if (!username.starts_with(kUsernamePrefix)) return std::nullopt;
  username.remove_prefix(kUsernamePrefix.size());
  const std::size_t colon = username.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const AccountName account = {username.substr(0, colon), username.substr(colon + 1)};
  // No valid name has a second colon.
  if (!meta::NameIsDNSLabel(account.namespace_, false).empty() ||
      !meta::NameIsDNSSubdomain(account.name, false).empty()) {
    return std::nullopt;
  }
  return account;
}

std::vector<std::string> MakeGroupNames(std::string_view namespace_) {
  return {std::string(kAllServiceAccountsGroup), std::string(kGroupPrefix).append(namespace_)};
}

UserInfo ServiceAccountInfo::ToUserInfo() const {
  UserInfo user{
      .name = MakeUsername(namespace_, name), .uid = uid, .groups = MakeGroupNames(namespace_)};
  const auto add = [&user](std::string_view key, const std::string& value) {
    if (!value.empty()) user.extra[std::string(key)] = {value};
  };
  // Follows ServiceAccountInfo.UserInfo: a pod's name and UID come together, a node's UID needs its
  // name.
  if (!pod_name.empty() && !pod_uid.empty()) {
    add(kPodNameKey, pod_name);
    add(kPodUIDKey, pod_uid);
  }
  add(kCredentialIDKey, credential_id);
  add(kNodeNameKey, node_name);
  if (!node_name.empty()) add(kNodeUIDKey, node_uid);
  return user;
}

}  // namespace apiserver::v0::auth::serviceaccount
