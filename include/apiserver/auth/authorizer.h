#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/auth/user.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"

// Authorization of requests: k8s.io/apiserver/pkg/authorization/authorizer. Implementations are in
// authz.
namespace apiserver::inline v0::auth {

// The attributes by which a request is authorized. All text is borrowed from the request for the
// call.
struct Attributes {
  UserInfoPtr user;  // Never null.
  // "get", "list", …; for a non-resource request the HTTP verb in lower case.
  std::string_view verb;
  bool resource_request = false;
  std::string_view group = {};
  std::string_view version = {};
  std::string_view resource = {};
  std::string_view subresource = {};
  std::string_view namespace_ = {};
  std::string_view name = {};
  std::string_view path = {};
  // Selectors as sent, unparsed; empty for verbs that have none. See meta/selector.h.
  std::string_view field_selector = {};
  std::string_view label_selector = {};

  // True for get, list and watch.
  bool IsReadOnly() const { return verb == "get" || verb == "list" || verb == "watch"; }
};

// The decision of one authorizer.
enum class Decision : std::uint8_t {
  kDeny,       // Refused; no other authorizer is asked.
  kAllow,      // Allowed; no other authorizer is asked.
  kNoOpinion,  // The next authorizer is asked. If there is none, the request is refused.
};

// A decision with its reason.
struct Verdict {
  Decision decision = Decision::kNoOpinion;
  std::string reason = {};  // For people; ends the message of a 403.
};

// Authorizes requests. Called from any thread, loops included: there `ctx` may not wait, and an
// authorizer that would have to wait returns kWouldBlock and is called again where waiting is
// allowed.
class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // kWouldBlock: the answer must come from elsewhere, and `ctx` may not wait. Other errors: no
  // decision could be made; that is a 500, unless another authorizer allows the request.
  virtual Result<Verdict> Authorize(const Context& ctx, const Attributes& attributes) const = 0;
};

}  // namespace apiserver::inline v0::auth
