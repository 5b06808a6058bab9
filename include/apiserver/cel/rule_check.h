#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "apiserver/base/field_path.h"
#include "apiserver/cel/rules.h"
#include "apiserver/runtime/schema_node.h"

// The rules of a schema before it is stored: the part about x-kubernetes-validations of
// pkg/apis/apiextensions/validation of k8s.io/apiextensions-apiserver.
namespace apiserver::inline v0::cel {

// The highest estimated cost of one rule for one object, however often it runs, and of all rules of
// a schema.
inline constexpr std::uint64_t kRuleCostMax = 10'000'000;
inline constexpr std::uint64_t kSchemaCostMax = 100'000'000;

// The options of CheckRules.
struct RuleCheckOptions {
  // False: a rule may be dearer than kRuleCostMax, as in an update that leaves the schema as it is.
  bool limit_rules = true;
};

// The findings about the rules of a schema, in the order in which Kubernetes reports them.
struct RuleErrors {
  field::ErrorList texts;        // A blank rule, a line break in a message, an unknown reason, ….
  field::ErrorList expressions;  // Expressions that do not compile or cost too much.
  field::ErrorList total;        // All rules together cost too much.
  std::uint64_t estimated_cost = 0;  // The sum of all rules. Saturates at 2^64 - 1.
};

// Checks all rules of a schema of a whole resource. `path` is the schema's: errors are about
// "PATH.properties[spec].x-kubernetes-validations[0].rule". Expressions are compiled where neither
// a schema nor one below it has an error in its texts. Parts come before the whole, fields in their
// order. The words are Kubernetes': "estimated rule cost exceeds budget by factor of 3.3x (try …)".
RuleErrors CheckRules(const runtime::SchemaPtr& schema, const field::Path& path,
                      const RuleEnvironments& environments, const RuleCheckOptions& options = {});

// Returns the texts of all rules and messageExpressions of a schema, for
// RuleEnvironments::stored_texts.
std::set<std::string, std::less<>> RuleTextsOf(const runtime::Schema& schema);

}  // namespace apiserver::inline v0::cel
