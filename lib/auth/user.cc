#include "apiserver/auth/user.h"

#include <algorithm>

namespace apiserver::auth {

bool UserInfo::InGroup(std::string_view group) const {
  return std::ranges::find(groups, group) != groups.end();
}

}  // namespace apiserver::auth
