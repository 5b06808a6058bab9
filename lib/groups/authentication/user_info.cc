#include "groups/authentication/user_info.h"

namespace apiserver::v0::groups::authentication {

using runtime::Value;

Value TextList(runtime::Object& object, const std::vector<std::string>& texts) {
  runtime::ListBuilder list(object.arena());
  for (const std::string& text : texts) list.Add(Value::String(object.arena().Copy(text)));
  return list.Build();
}

// Builds in the object's own arena, which keeps the values alive.
Value UserInfoValue(runtime::Object& object, const auth::UserInfo& user) {
  runtime::Arena& arena = object.arena();
  runtime::MapBuilder info(arena);
  // Go omits empty members as well.
  if (!user.name.empty()) info.Add("username", Value::String(arena.Copy(user.name)));
  if (!user.uid.empty()) info.Add("uid", Value::String(arena.Copy(user.uid)));
  if (!user.groups.empty()) info.Add("groups", TextList(object, user.groups));
  if (!user.extra.empty()) {
    runtime::MapBuilder extra(arena);
    for (const auto& [key, values] : user.extra) {
      extra.Add(arena.Copy(key), TextList(object, values));
    }
    info.Add("extra", extra.Build());
  }
  return info.Build();
}

}  // namespace apiserver::v0::groups::authentication
