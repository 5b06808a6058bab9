#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/context.h"
#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/cel/program.h"
#include "base/spares.h"

namespace apiserver::inline v0::authz {

// The most match conditions of one webhook, as upstream.
inline constexpr std::size_t kMatchConditionsMax = 64;

// The compiled match conditions of a webhook, which decide whether it is asked about a request.
// Follows CELMatcher and its compiler in k8s.io/apiserver/pkg/authorization/cel. Any thread; never
// blocks.
class MatchConditions {
 public:
  // Compiles expressions over `request`, a SubjectAccessReviewSpec of v1. Reports faults at `path`,
  // the path of the list, in the words of ValidateAndCompileMatchConditions. Null: there are no
  // expressions, or at least one fault.
  static std::unique_ptr<const MatchConditions> Compile(const std::vector<std::string>& expressions,
                                                        const field::Path& path,
                                                        field::ErrorList& errors);

  // Returns false if one of the conditions is false, whatever the others are, and true if all are
  // true. kInternalError: no condition is false, and some failed: "cel evaluation error: …".
  // Evaluates in order up to the first false one. Each condition has the cost limit of one call;
  // there is no limit for all together, as upstream.
  Result<bool> Match(const Context& ctx, const auth::Attributes& asked) const;

 private:
  struct Condition {
    std::string expression;
    cel::Program program;
  };

  std::vector<Condition> conditions_;
  // True if a condition names the selector: only then it is parsed.
  bool uses_field_selector_ = false;
  bool uses_label_selector_ = false;
  Spares<cel::Scratch> scratches_;
};

}  // namespace apiserver::inline v0::authz
