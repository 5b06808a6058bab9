#include "apiserver/auth/user.h"

#include <algorithm>

namespace apiserver::v0::auth {

bool UserInfo::InGroup(std::string_view group) const {
  return std::ranges::find(groups, group) != groups.end();
}

}  // namespace apiserver::v0::auth
