#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/policy/cel_environment.h"
#include "admission/policy/expressions.h"
#include "admission/policy/mutator.h"
#include "apiserver/cel/authorizer.h"
#include "apiserver/cel/evaluate.h"

// Expressions of the Common Expression Language, compiled and evaluated:
// k8s.io/apiserver/pkg/admission/plugin/cel/{activation,condition,composition}.go.
namespace apiserver::inline v0::admission::policy {

// The variables of a policy, shared by all of its expressions. Compiling is for one thread; then it
// does not change any more and any thread may read it.
class Composition {
 public:
  struct Item {
    std::string name;
    CompiledExpression compiled;
  };

  // `declarations` are those of the variables' expressions.
  Composition(std::shared_ptr<const ExpressionCompiler> compiler, Declarations declarations);
  // Compiles and adds a variable, which may read those before it.
  const CompiledExpression& Add(std::string name, std::string_view text, cel::Mode mode);

  const Declarations& declarations() const { return declarations_; }
  const std::vector<Item>& items() const { return items_; }
  // Compiles an expression that may read the variables. `declarations` may differ from those of the
  // composition in `authorizer` and `patch_types`.
  CompiledExpression Compile(ExpressionUse use, std::string_view text, cel::Mode mode,
                             const Declarations& declarations);
  // Keeps a text as long as the composition, which the expressions of a policy keep.
  std::string_view Keep(std::string_view text) { return texts_.emplace_back(text); }
  // Tells if any expression of the policy, compiled by now, reads `authorizer`.
  bool asks_authorizer() const { return asks_authorizer_; }
  // Frees what only compiling needs: called when the policy is compiled.
  void Finish() { environments_.clear(); }

 private:
  const std::shared_ptr<const ExpressionCompiler> compiler_;
  const Declarations declarations_;
  std::vector<Item> items_;
  std::vector<ComposedVariable> variables_;
  std::deque<std::string> texts_;
  bool asks_authorizer_ = false;
  // The environments of the variables so far, which many expressions share.
  std::map<std::pair<cel::Mode, Declarations>, cel::Environment> environments_;
};

// An expression with its text, for messages.
struct NamedExpression {
  std::string_view text;  // Borrowed: Composition::Keep().
  CompiledExpression compiled;
};

// One evaluation of expressions over the same variables: composited variables are evaluated when
// they are first read, and kept. Used by one thread.
class Activation {
 public:
  // Everything must outlive it.
  Activation(const Composition& composition, const Variables& variables, cel::Scratch& scratch);
  Activation(const Activation&) = delete;
  Activation& operator=(const Activation&) = delete;

  // The outcome of one expression.
  struct Result {
    cel::Value value = {};  // If there is no error.
    std::optional<std::string> error = {};
    bool out_of_budget = false;  // The evaluation of the whole list ends.
  };
  // Evaluates an expression and subtracts its cost, and that of variables that it reads first, from
  // `budget`.
  Result Evaluate(const NamedExpression& expression, const Context& ctx, std::int64_t& budget);

 private:
  void BindAuthorizer(const Variables& variables);

  // A composited variable.
  class ComposedInput final : public cel::LazyInput {
   public:
    ComposedInput(Activation& activation, const Composition::Item& item, std::size_t place)
        : activation_(activation), item_(item), place_(place) {}
    cel::Value Get(cel::Scratch& scratch, const Context& ctx) override;

   private:
    cel::Value Evaluate(cel::Scratch& scratch, const Context& ctx);
    cel::Value EvaluateNow(cel::Scratch& scratch, const Context& ctx);
    cel::Value Failed(cel::Scratch& scratch, const std::string& why) const;

    Activation& activation_;
    const Composition::Item& item_;
    const std::size_t place_;  // Among the inputs.
    std::optional<cel::Value> value_;
  };
  // `request` or `namespaceObject`.
  class RequestInput final : public cel::LazyInput {
   public:
    explicit RequestInput(const LateValue& value) : value_(value) {}
    cel::Value Get(cel::Scratch& scratch, const Context& ctx) override;

   private:
    const LateValue value_;
  };
  // `variables` as a whole, as has(variables.x) reads it. All of them are then evaluated.
  class VariablesInput final : public cel::LazyInput {
   public:
    explicit VariablesInput(Activation& activation) : activation_(activation) {}
    cel::Value Get(cel::Scratch& scratch, const Context& ctx) override;

   private:
    Activation& activation_;
  };

  const Composition& composition_;
  cel::Scratch& scratch_;
  // Null: `authorizer` is not bound.
  std::optional<cel::UserAuthorizer> authorizer_;
  std::span<cel::Input> inputs_;  // In the arena of scratch_.
  RequestInput namespace_object_;
  RequestInput request_;
  std::vector<ComposedInput> composed_;  // Not moved: inputs_ point to them.
  VariablesInput variables_;
  // The number of variables that may be read now: those before the one that is evaluated.
  std::size_t visible_ = 0;
  std::uint64_t composed_cost_ = 0;  // Since the last expression.
};

// Returns the list of one use of a policy. A text of nullopt stands for an absent expression; the
// others must live as long as the composition: Composition::Keep().
ExpressionListPtr CompileList(const std::shared_ptr<Composition>& composition, ExpressionUse use,
                              const std::vector<std::optional<std::string_view>>& texts,
                              const Declarations& declarations);

}  // namespace apiserver::inline v0::admission::policy
