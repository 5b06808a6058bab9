#include "endpoints/handlers/forbidden.h"

#include "apiserver/base/field_path.h"
#include "apiserver/meta/errors.h"

namespace apiserver::v0::endpoints {
namespace {

// The sentence of upstream's forbiddenMessage.
std::string WhoCannotWhat(const auth::Attributes& asked) {
  std::string what = "User " + field::Quote(asked.user ? asked.user->name : "") + " cannot " +
                     std::string(asked.verb);
  if (!asked.resource_request) return what + " path " + field::Quote(asked.path);
  std::string resource(asked.resource);
  if (!asked.subresource.empty()) resource += "/" + std::string(asked.subresource);
  what += " resource " + field::Quote(resource) + " in API group " + field::Quote(asked.group);
  return what + (asked.namespace_.empty() ? " at the cluster scope"
                                          : " in the namespace " + field::Quote(asked.namespace_));
}

}  // namespace

// A browser may render the message, which has parts of the request.
std::string Sanitized(std::string_view text) {
  std::string sanitized;
  for (const char c : text) {
    if (c == '&') {
      sanitized += "&amp;";
    } else if (c == '<') {
      sanitized += "&lt;";
    } else if (c == '>') {
      sanitized += "&gt;";
    } else {
      sanitized += c;
    }
  }
  return sanitized;
}

// Follows responsewriters.ForbiddenStatusError.
Status ForbiddenStatusError(const auth::Attributes& asked, std::string_view reason) {
  std::string why = Sanitized(WhoCannotWhat(asked));
  if (!reason.empty()) why += ": " + std::string(reason);
  if (!asked.resource_request) return meta::NewForbidden({}, "", why);
  return meta::NewForbidden({std::string(asked.group), std::string(asked.resource)}, asked.name,
                            why);
}

}  // namespace apiserver::v0::endpoints
