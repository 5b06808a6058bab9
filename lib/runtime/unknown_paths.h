#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/runtime/object.h"
#include "apiserver/runtime/schema.h"

namespace apiserver::inline v0::runtime {

// The schema of a member or item of `parent`; null when it has none. `known` says whether the
// member may be there at all.
const Schema* MemberSchema(const Schema& parent, std::string_view key, bool& known);
// A member that the object's schema does not know.
struct UnknownMember {
  std::string path;  // "spec.typo".
  const char* key;   // The key's text, of the object's content.
};
std::vector<UnknownMember> UnknownMembers(const Object& object);

}  // namespace apiserver::inline v0::runtime
