#pragma once

#include <string>
#include <vector>

#include "apiserver/auth/user.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::groups::authentication {

// Returns `texts` as a list in the object's arena.
runtime::Value TextList(runtime::Object& object, const std::vector<std::string>& texts);
// Returns `user` as the API's UserInfo, in the object's arena; empty fields are left out.
runtime::Value UserInfoValue(runtime::Object& object, const auth::UserInfo& user);

}  // namespace apiserver::inline v0::groups::authentication
