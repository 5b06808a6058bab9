#include "admission/policy/cel_mutations.h"

#include <map>
#include <optional>
#include <utility>

#include "admission/policy/patch.h"
#include "apiserver/base/sync.h"
#include "apiserver/cel/to_data.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission::policy {

namespace {

using patch::apply::ParseableType;
using Changed = Result<std::unique_ptr<runtime::Object>>;

// An error that the failure policy decides about.
Status Failed(std::string message) { return {Reason::kInvalid, std::move(message)}; }

Status WithPrefix(std::string_view prefix, const Status& status) {
  return Failed(std::string(prefix) + std::string(status.message()));
}

// The expression of a mutation, and its evaluation.
class MutationExpression {
 public:
  MutationExpression(const std::shared_ptr<Composition>& composition, ExpressionUse use,
                     std::string_view text)
      : composition_(composition) {
    Declarations declarations = composition_->declarations();
    declarations.patch_types = true;
    expression_.text = composition->Keep(text);
    expression_.compiled =
        composition->Compile(use, expression_.text, cel::Mode::kStored, declarations);
  }

  // Returns the result, which lives in `scratch`.
  Result<cel::Value> Evaluate(const Context& ctx, const Variables& variables,
                              cel::Scratch& scratch) const {
    // Unlike those of validations, its compile errors are shown as they are.
    if (!expression_.compiled.program) return Failed(expression_.compiled.error);
    Activation activation(*composition_, variables, scratch);
    std::int64_t budget = kCostBudget;
    Activation::Result result = activation.Evaluate(expression_, ctx, budget);
    if (result.out_of_budget) {
      return Failed(
          "validation failed due to running out of cost budget, no further validation "
          "rules will be run");
    }
    if (result.error) return Failed(*std::move(result.error));
    return result.value;
  }

 private:
  const std::shared_ptr<const Composition> composition_;
  NamedExpression expression_;
};

// The types of the kinds that a mutation has met, made once.
class TypeCache {
 public:
  ParseableType Get(const runtime::SchemaPtr& schema) const {
    auto types = types_.Lock();
    auto& known = (*types)[schema.get()];
    // The schema is kept with its type, so that no other can have its address.
    if (!known) known.emplace(schema, ParseableType::ForObject(schema));
    return known->second;
  }

 private:
  using Entry = std::optional<std::pair<runtime::SchemaPtr, ParseableType>>;
  mutable Guarded<std::map<const runtime::Schema*, Entry>> types_;
};

class ApplyMutation final : public Mutation {
 public:
  ApplyMutation(const std::shared_ptr<Composition>& composition, std::string_view text)
      : expression_(composition, ExpressionUse::kApplyConfiguration, text) {}

  Changed Apply(const Context& ctx, const Variables& variables,
                const runtime::Object& object) const override {
    const runtime::SchemaPtr schema = SchemaOf(object);
    if (!schema) {
      return meta::NewServiceUnavailable(
          "Resource kind " + object.gvk().ToString() +
          " not found. There can be a delay between when CustomResourceDefinitions are created and "
          "when they are available.");
    }
    cel::Scratch scratch;
    ASSIGN_OR_RETURN(const cel::Value value, expression_.Evaluate(ctx, variables, scratch));
    if (const Status names = cel::CheckTypeNames(value, scratch.arena()); !names.ok()) {
      return WithPrefix("type mismatch: ", names);
    }
    runtime::Arena arena;
    const auto configuration = cel::ToData(value, scratch.arena(), arena);
    if (!configuration.ok()) return WithPrefix("invalid return type: ", configuration.status());
    return MergeConfiguration(object, *configuration, types_.Get(schema));
  }

 private:
  const MutationExpression expression_;
  const TypeCache types_;
};

class JSONPatchMutation final : public Mutation {
 public:
  JSONPatchMutation(const std::shared_ptr<Composition>& composition, std::string_view text)
      : expression_(composition, ExpressionUse::kJSONPatch, text) {}

  Changed Apply(const Context& ctx, const Variables& variables,
                const runtime::Object& object) const override {
    cel::Scratch scratch;
    ASSIGN_OR_RETURN(const cel::Value list, expression_.Evaluate(ctx, variables, scratch));
    runtime::Arena arena;
    runtime::ListBuilder operations(arena);
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      const cel::Value operation = list.Item(i, scratch.arena());
      ASSIGN_OR_RETURN(const runtime::Value data, OperationOf(operation, scratch, arena));
      operations.Add(data);
    }
    std::string patch;
    codec::AppendJson(operations.Build(), patch);
    return ApplyOperations(object, patch);
  }

 private:
  // Returns one operation as JSON; `from` and `value` only if they are set.
  static Result<runtime::Value> OperationOf(const cel::Value& operation, cel::Scratch& scratch,
                                            runtime::Arena& arena) {
    if (const Status names = cel::CheckTypeNamesOf(operation, "value", scratch.arena());
        !names.ok()) {
      return WithPrefix("type mismatch: ", names);
    }
    const auto data = cel::ToData(operation, scratch.arena(), arena);
    if (!data.ok()) {
      return WithPrefix(
          "JSONPath valueExpression evaluated to a type that could not marshal to JSON: ",
          data.status());
    }
    runtime::MapBuilder made(arena);
    made.Add("op", runtime::Value::String((*data)["op"].AsString()));
    made.Add("path", runtime::Value::String((*data)["path"].AsString()));
    if (const runtime::Value from = (*data)["from"]; from.size() > 0) made.Add("from", from);
    if (const runtime::Value* value = data->Find("value")) made.Add("value", *value);
    return made.Build();
  }

  const MutationExpression expression_;
};

}  // namespace

std::shared_ptr<const Mutation> NewApplyMutation(const std::shared_ptr<Composition>& composition,
                                                 std::string_view text) {
  return std::make_shared<ApplyMutation>(composition, text);
}

std::shared_ptr<const Mutation> NewJSONPatchMutation(
    const std::shared_ptr<Composition>& composition, std::string_view text) {
  return std::make_shared<JSONPatchMutation>(composition, text);
}

}  // namespace apiserver::v0::admission::policy
