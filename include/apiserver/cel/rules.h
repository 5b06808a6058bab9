#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/cel/environment.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/runtime/schema_node.h"
#include "apiserver/runtime/value.h"

// The rules of schemas (x-kubernetes-validations), compiled once and run over objects:
// pkg/apiserver/schema/cel of k8s.io/apiextensions-apiserver.
namespace apiserver::inline v0::cel {

// The environments in which the expressions of rules are compiled.
struct RuleEnvironments {
  // The environment of a text that is not in `stored_texts`. It has no variables.
  Environment environment;
  // The environment of one that is: what was stored once stays valid (Mode::kStored).
  std::optional<Environment> stored = std::nullopt;
  // Borrowed. Null: there are none.
  const std::set<std::string, std::less<>>* stored_texts = nullptr;

  // Returns the environment of an expression.
  const Environment& Of(std::string_view text) const {
    const bool known = stored && stored_texts != nullptr && stored_texts->contains(text);
    return known ? *stored : environment;
  }
};

// The result of compiling one rule.
struct CompiledRule {
  // "compilation failed: ERROR: …", "cel expression must evaluate to a bool", "program
  // instantiation failed: …". Empty: the rule compiled, or it is blank.
  std::string error = "";
  // The same for its messageExpression: "messageExpression compilation failed: …". A rule whose
  // messageExpression does not compile runs with its message.
  std::string message_error = "";
  // Null: the rule is blank or does not compile.
  std::optional<Program> program = std::nullopt;
  std::optional<Program> message = std::nullopt;
  bool uses_old_self = false;
  // The highest cost of one run, and the most runs for one object if a list or map around the rule
  // has no limit.
  std::uint64_t max_cost = 0;
  std::uint64_t max_cardinality = 0;
  std::uint64_t message_max_cost = 0;
  // The rule's fieldPath as a path of errors: "spec.size", "labels[app]". Empty: none, or it is not
  // valid.
  std::string field_path = "";
};

// Compiles the rules of one schema, without those below it, in their order. `view` is the schema as
// expressions see it (WithTypeAndObjectMeta); of a part that is no resource it is the schema
// itself. kInternalError: "failed to convert to declType for CEL validation rules", as expressions
// do not see such values at all.
Result<std::vector<CompiledRule>> CompileRules(const runtime::SchemaPtr& schema,
                                               const runtime::SchemaPtr& view,
                                               const RuleEnvironments& environments);

// Reads the fieldPath of a rule: names and keys below an object, ".spec['a.b'].size". Returns it as
// a path of errors. kInvalid, with upstream's words: "does not refer to a valid field", "expected [
// or . but got: x", "unexpected end of JSON path", …. `brackets` false: "[" is refused, as
// selectableFields do.
Result<field::Path> ParseFieldPath(std::string_view path, const runtime::Schema& schema,
                                   bool brackets = true);

// An object to be validated.
struct RuleSubject {
  runtime::Value object;
  // The object that it replaces. Null: it is new.
  const runtime::Value* old = nullptr;
  // The path of the object in errors.
  field::Path path = {};
  // Turns errors about values that the update leaves unchanged into warnings, except those of rules
  // that use oldSelf: the feature CRDValidationRatcheting.
  bool ratchet = false;
  // The members apiVersion and kind of a resource whose content does not hold them, as that of a
  // runtime::Object. Empty: they are members of `object`.
  std::string_view api_version = "";
  std::string_view kind = "";
};

// The findings of one validation.
struct RuleFindings {
  field::ErrorList errors;
  // The texts of errors that ratcheting has made warnings, at most field::kErrorsMax.
  std::vector<std::string> warnings;
  // The rest of the budget. -1: the validation ended before all rules ran, as the last error says.
  std::int64_t remaining = 0;
};

struct RuleTree;  // Private: cel/rules/rule_tree.h.

// All rules of a schema, compiled. Immutable and shared: copies are cheap and may be used by any
// thread.
class RuleSet {
 public:
  // Makes a set without rules.
  RuleSet() = default;
  // Compiles the rules of a schema and of those below it. A rule that does not compile is an error
  // of every value that it is about. `resource`: the schema is that of a whole resource, so that
  // `self` has apiVersion and kind, and of metadata name and generateName alone. `environment` has
  // no variables. Takes some 40 µs for each rule, and time linear in the parts that have rules.
  static RuleSet Compile(const runtime::SchemaPtr& schema, bool resource,
                         const Environment& environment);

  bool empty() const { return tree_ == nullptr; }

  // Runs the rules over an object, which must fit the schema: a rule about a value that does not
  // fails. Visits a value before those below it and members in their order in the object; does not
  // visit nulls, nor parts whose schema has no rules. `budget` limits each evaluation and their
  // sum; beyond it the validation ends with an error. Resets `scratch`. Errors are those of
  // Kubernetes: "spec.size: Invalid value: 3: must be even".
  RuleFindings Validate(const RuleSubject& subject, const Budget& budget, Scratch& scratch,
                        const Context& context) const;

 private:
  std::shared_ptr<const RuleTree> tree_;
};

}  // namespace apiserver::inline v0::cel
