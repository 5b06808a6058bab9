#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "apiserver/codec/json.h"
#include "authz/webhook/review.h"
#include "require.h"

// An answer of an authorization webhook is refused, or says what its JSON says; a question is JSON
// whatever stands in it.
namespace {

namespace authz = apiserver::authz;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  apiserver::runtime::Arena arena;
  if (const auto status = authz::ReadReview(text, "v1"); status.ok()) {
    const auto root = apiserver::codec::ParseJson(text, arena);
    Require(root.ok());
    Require((*root)["status"]["allowed"].AsBool() == status->allowed);
    Require((*root)["status"]["denied"].AsBool() == status->denied);
  } else {
    Require(status.status().reason() == apiserver::Reason::kInternalError);
  }
  auto user = std::make_shared<apiserver::auth::UserInfo>();
  user->name = text;
  user->groups = {user->name};
  user->extra = {{user->name, user->groups}};
  for (const bool resource : {true, false}) {
    const auto spec = authz::ReviewSpec({.user = user,
                                         .verb = text,
                                         .resource_request = resource,
                                         .name = text,
                                         .path = text,
                                         .field_selector = text,
                                         .label_selector = text},
                                        "v1");
    Require(apiserver::codec::ParseJson(authz::ReviewOf(spec, "v1"), arena).ok());
  }
  return 0;
}
