#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/cel/environment.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/cel/program.h"
#include "base/spares.h"

// The expressions of an authentication configuration: k8s.io/apiserver/pkg/authentication/cel.
namespace apiserver::inline v0::authn {

// An expression with its text, which errors repeat.
struct Expression {
  std::string text;
  cel::Program program;
};

// A rule that an expression checks.
struct ExpressionRule {
  Expression condition;
  std::string message;
};

// A name by which expressions select a claim or an extra whose own name is no identifier.
struct EscapedName {
  std::string escaped;                  // "kubernetes__dot__io"
  std::optional<std::string> property;  // "kubernetes.io". nullopt: an unknown "__word__".
};

// All expressions of one issuer, compiled: authenticationcel.CELMapper. Shared by the threads that
// authenticate its tokens.
struct IssuerExpressions {
  std::optional<Expression> username;
  std::optional<Expression> groups;
  std::optional<Expression> uid;
  struct Extra {
    std::string key;
    Expression value;
  };
  std::vector<Extra> extra;
  std::vector<ExpressionRule> claim_rules;
  std::vector<ExpressionRule> user_rules;
  // The names with "__" that any of the expressions selects.
  std::vector<EscapedName> escaped_names;
  // The memory of evaluations.
  Spares<cel::Scratch> scratches;
};

// The variable that an expression reads.
enum class ExpressionInput {
  kClaims,  // `claims`: map(string, any).
  kUser,    // `user`: kubernetes.UserInfo.
};

// The type that an expression must have.
enum class ExpressionResult {
  kAny,  // Claims have no types: a token's evaluation checks the value.
  kBool,
};

// Compiles expressions. Makes two environments: keep it while a configuration is read.
class ExpressionCompiler {
 public:
  ExpressionCompiler();

  // Returns nullopt if the expression does not compile, and then reports why at `path`, in the
  // words of the Go compiler of authentication.
  std::optional<Expression> Compile(ExpressionInput input, ExpressionResult result,
                                    const std::string& text, const field::Path& path,
                                    field::ErrorList& errors) const;

 private:
  cel::Environment claims_;
  cel::Environment user_;
};

// Facts about the syntax of an expression over claims.
struct ExpressionSyntax {
  // Selects the claim with a dot: claims.email or claims.?email, anywhere, also as
  // has(claims.email). An index with the name does not count, as upstream.
  bool selects_email = false;
  bool selects_email_verified = false;
  // Names with "__" that are selected, or are a constant index.
  std::vector<std::string> escaped_names;
};
// Reads them from an expression that compiles.
ExpressionSyntax ReadSyntax(std::string_view expression);

// Adds the names that an expression selects to `names`, each once.
void AddEscapedNames(const ExpressionSyntax& syntax, std::vector<EscapedName>& names);

}  // namespace apiserver::inline v0::authn
