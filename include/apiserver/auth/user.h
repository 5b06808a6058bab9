#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace apiserver::inline v0::auth {

// The authenticated user of a request: k8s.io/apiserver/pkg/authentication/user.Info.
struct UserInfo {
  std::string name;
  std::string uid = {};
  std::vector<std::string> groups = {};
  // Sorted by key; keys are lower case.
  std::map<std::string, std::vector<std::string>> extra = {};

  // True if the user is a member of `group`.
  bool InGroup(std::string_view group) const;

  friend bool operator==(const UserInfo&, const UserInfo&) = default;
};
// Shared by all requests of one identity, so that a request copies no names.
using UserInfoPtr = std::shared_ptr<const UserInfo>;

inline constexpr std::string_view kSystemPrivilegedGroup = "system:masters";
inline constexpr std::string_view kAllAuthenticated = "system:authenticated";
inline constexpr std::string_view kAllUnauthenticated = "system:unauthenticated";
inline constexpr std::string_view kAnonymous = "system:anonymous";
inline constexpr std::string_view kAPIServerUser = "system:apiserver";
// The key of UserInfo::extra that identifies the credential: "X509SHA256=<hex>".
inline constexpr std::string_view kCredentialIDKey = "authentication.kubernetes.io/credential-id";

}  // namespace apiserver::inline v0::auth
