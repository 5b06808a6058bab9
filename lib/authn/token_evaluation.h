#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apiserver/auth/user.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/cel/value.h"
#include "apiserver/runtime/value.h"
#include "authn/expressions.h"

namespace apiserver::inline v0::authn {

// Evaluates the expressions of an issuer on one of its tokens. Errors are kUnauthorized with the
// words of the Go authenticator; each evaluation has the cost limit of one call. Values live as
// long as this object.
class TokenEvaluation {
 public:
  // `expressions` and `claims` must outlive this object.
  TokenEvaluation(const Context& ctx, const IssuerExpressions& expressions, runtime::Value claims)
      : ctx_(ctx), expressions_(expressions), claims_(claims) {}

  // Evaluate a mapping. `what` is the word of errors: "username", "uid", "group".
  Result<std::string> Text(const Expression& expression, const std::string& what);
  Result<std::vector<std::string>> Texts(const Expression& expression, const std::string& what);
  // Evaluates all mappings of extras and puts those that are not empty into `user`.
  Status AddExtra(auth::UserInfo& user);
  // Checks the rules for claims, or those for the user.
  Status CheckClaims();
  Status CheckUser(const auth::UserInfo& user);

 private:
  // The error of a single evaluation, without prefix: "expression 'E' resulted in error: …".
  Result<cel::Value> Evaluate(const Expression& expression, const cel::Input& input);
  Status Check(const std::vector<ExpressionRule>& rules, const cel::Input& input,
               const std::string& error);
  const cel::Input& ClaimsInput();
  cel::Scratch& scratch();

  const Context& ctx_;
  const IssuerExpressions& expressions_;
  const runtime::Value claims_;
  std::optional<Spares<cel::Scratch>::Lent> scratch_;  // Taken by the first expression.
  std::optional<cel::Input> input_;  // Made by the first expression that reads claims.
};

}  // namespace apiserver::inline v0::authn
