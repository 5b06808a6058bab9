#pragma once

#include <string_view>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/user.h"
#include "apiserver/cel/arena.h"
#include "apiserver/cel/type.h"
#include "apiserver/cel/value.h"

// The variables by which expressions ask what a user may do:
// k8s.io/apiserver/pkg/cel/library/authz.
namespace apiserver::inline v0::cel {

// The type of the variable `authorizer`.
Type AuthorizerType();
// The type of the variable `authorizer.requestResource`.
Type ResourceCheckType();

// Answers checks about a user. The values below borrow it and its members, which must live as long
// as the evaluation and its result.
//
// check() calls the Authorizer on the thread that evaluates, with the Context of Evaluate(). An
// authorizer that asks a webhook waits there: evaluate on the pool what Uses("authorizer"). Where
// the Context may not block, its kWouldBlock ends the evaluation as End::kWouldBlock, and the
// caller evaluates again where waiting is allowed. Other errors become the decision's: errored(),
// error(), and no reason().
struct UserAuthorizer {
  const auth::Authorizer* authorizer = nullptr;  // Never null.
  auth::UserInfoPtr user;                        // Never null.
};

// Returns the value of `authorizer`.
Value AuthorizerValue(const UserAuthorizer& user, Arena& arena);

// The resource of a request.
struct RequestResource {
  std::string_view group = {};
  std::string_view resource = {};
  std::string_view subresource = {};
  std::string_view namespace_ = {};
  std::string_view name = {};
};
// Returns the value of `authorizer.requestResource`: only check() is left to say. Borrows the text.
Value ResourceCheckValue(const UserAuthorizer& user, const RequestResource& resource, Arena& arena);

}  // namespace apiserver::inline v0::cel
