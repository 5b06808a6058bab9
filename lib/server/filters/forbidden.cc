#include "server/filters/forbidden.h"

#include <string>

#include "apiserver/meta/errors.h"

namespace apiserver::inline v0::server {

Status ForbiddenStatusError(const auth::Attributes& attributes, std::string_view reason) {
  std::string why =
      "User " + field::Quote(attributes.user->name) + " cannot " + std::string(attributes.verb);
  if (attributes.resource_request) {
    std::string resource(attributes.resource);
    if (!attributes.subresource.empty()) resource += "/" + std::string(attributes.subresource);
    why +=
        " resource " + field::Quote(resource) + " in API group " + field::Quote(attributes.group);
    why += attributes.namespace_.empty()
               ? " at the cluster scope"
               : " in the namespace " + field::Quote(attributes.namespace_);
  } else {
    why += " path " + field::Quote(attributes.path);
  }
  if (!reason.empty()) why += ": " + std::string(reason);
  if (!attributes.resource_request) return meta::NewForbidden({}, "", why);
  return meta::NewForbidden({std::string(attributes.group), std::string(attributes.resource)},
                            attributes.name, why);
}

}  // namespace apiserver::inline v0::server
