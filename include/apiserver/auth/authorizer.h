#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/auth/user.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"

// May they? k8s.io/apiserver/pkg/authorization/authorizer. Implementations are in authz.
namespace apiserver::inline v0::auth {

// What is asked for. All text is borrowed for the call: it belongs to the request.
struct Attributes {
  UserInfoPtr user;       // Never null.
  std::string_view verb;  // "get", "list", …; of a non-resource request the HTTP verb, lower case.
  bool resource_request = false;
  std::string_view group = {};
  std::string_view version = {};
  std::string_view resource = {};
  std::string_view subresource = {};
  std::string_view namespace_ = {};
  std::string_view name = {};
  std::string_view path = {};
  // As sent, unparsed; empty where the verb has none. See meta/selector.h.
  std::string_view field_selector = {};
  std::string_view label_selector = {};

  bool IsReadOnly() const { return verb == "get" || verb == "list" || verb == "watch"; }
};

enum class Decision : std::uint8_t {
  kDeny,       // No, and nobody else is asked.
  kAllow,      // Yes, and nobody else is asked.
  kNoOpinion,  // The next authorizer is asked; if none is left: no.
};

struct Verdict {
  Decision decision = Decision::kNoOpinion;
  std::string reason = {};  // For people; ends the message of a 403.
};

// Any thread, loops among them: there `ctx` must not wait, and what would have to is
// kWouldBlock, and asked again where waiting is allowed.
class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // kWouldBlock: somebody must be asked, and `ctx` must not wait. Other errors: the question could
  // not be answered; that is a 500, unless another authorizer allows.
  virtual Result<Verdict> Authorize(const Context& ctx, const Attributes& attributes) const = 0;
};

}  // namespace apiserver::inline v0::auth
