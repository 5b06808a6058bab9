#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "apiserver/auth/user.h"

// How the tests of impersonation write a user down, and ask for one of its groups.
namespace apiserver::inline v0::server {

inline bool HasGroup(const auth::UserInfo& user, std::size_t at, std::string_view group) {
  return user.groups.size() > at && user.groups[at] == group;
}

// "name|uid|group,|key=value,".
inline std::string Describe(const auth::UserInfo& user) {
  std::string text = user.name + "|" + user.uid + "|";
  for (const std::string& group : user.groups) text += group + ",";
  for (const auto& [key, values] : user.extra) {
    text += "|" + key + "=";
    for (const std::string& value : values) text += value + ",";
  }
  return text;
}

}  // namespace apiserver::inline v0::server
