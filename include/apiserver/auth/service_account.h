#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/user.h"

// The user names and groups of service accounts:
// k8s.io/apiserver/pkg/authentication/serviceaccount.
namespace apiserver::inline v0::auth::serviceaccount {

inline constexpr std::string_view kUsernamePrefix = "system:serviceaccount:";
inline constexpr std::string_view kGroupPrefix = "system:serviceaccounts:";
inline constexpr std::string_view kAllServiceAccountsGroup = "system:serviceaccounts";
// Keys of UserInfo::extra.
inline constexpr std::string_view kPodNameKey = "authentication.kubernetes.io/pod-name";
inline constexpr std::string_view kPodUIDKey = "authentication.kubernetes.io/pod-uid";
inline constexpr std::string_view kNodeNameKey = "authentication.kubernetes.io/node-name";
inline constexpr std::string_view kNodeUIDKey = "authentication.kubernetes.io/node-uid";

// Returns "system:serviceaccount:<namespace>:<name>".
std::string MakeUsername(std::string_view namespace_, std::string_view name);

// The parts of a service account's user name.
struct AccountName {
  std::string_view namespace_;
  std::string_view name;
};
// Borrows from `username`. nullopt: it is not a name that MakeUsername makes of valid parts.
std::optional<AccountName> SplitUsername(std::string_view username);

// Returns the group of all service accounts and that of the namespace's.
std::vector<std::string> MakeGroupNames(std::string_view namespace_);

// The identity of a service account's request. Empty: not known.
struct ServiceAccountInfo {
  std::string name;
  std::string namespace_;
  std::string uid = {};
  std::string pod_name = {};
  std::string pod_uid = {};
  std::string credential_id = {};  // "JTI=…".
  std::string node_name = {};
  std::string node_uid = {};

  // Includes the pod only if name and uid are known, the node only if its name is.
  UserInfo ToUserInfo() const;
};

}  // namespace apiserver::inline v0::auth::serviceaccount
