#include "admission/policy/type_check.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "admission/policy/cel_environment.h"
#include "apiserver/base/field_path.h"
#include "apiserver/cel/schema_type.h"
#include "codec/type_meta.h"

namespace apiserver::v0::admission::policy {

namespace {

using runtime::GroupVersionKind;
using runtime::Value;
using Texts = std::vector<std::string>;

constexpr std::size_t kTypesMax = 10;
constexpr std::string_view kCompilationFailed = "compilation failed: ";

// Returns the items in order. Empty: one of them has a wildcard, with which the rule says too
// little.
Texts WithoutWildcards(const Value& list) {
  Texts texts;
  for (const Value& item : list.items()) {
    if (item.AsString().find('*') != std::string_view::npos) return {};
    texts.emplace_back(item.AsString());
  }
  std::ranges::sort(texts);
  return texts;
}

// Returns the resources in order, without wildcards and subresources, which are passed over.
Texts PlainResources(const Value& list) {
  Texts texts;
  for (const Value& item : list.items()) {
    if (item.AsString().find_first_of("*/") == std::string_view::npos) {
      texts.emplace_back(item.AsString());
    }
  }
  std::ranges::sort(texts);
  return texts;
}

struct ByName {
  bool operator()(const GroupVersionKind& a, const GroupVersionKind& b) const {
    return std::tie(a.group, a.version, a.kind) < std::tie(b.group, b.version, b.kind);
  }
};
using Kinds = std::set<GroupVersionKind, ByName>;

// The kinds of a policy, in the order of their names.
class KindCollector {
 public:
  explicit KindCollector(const TypeResolver& resolver) : resolver_(resolver) {}

  Kinds Collect(const Value& rules) {
    for (const Value& rule : rules.items()) {
      if (!AddRule(rule)) break;
    }
    return std::move(kinds_);
  }

 private:
  // False: the rule has given the most kinds that are checked, and no other rule is looked at.
  bool AddRule(const Value& rule) {
    const Texts resources = PlainResources(rule["resources"]);
    std::size_t count = 0;
    for (const std::string& group : WithoutWildcards(rule["apiGroups"])) {
      for (const std::string& version : WithoutWildcards(rule["apiVersions"])) {
        for (const std::string& resource : resources) {
          if (!AddKinds({group, version, resource}, count)) return false;
        }
      }
    }
    return true;
  }

  bool AddKinds(const runtime::GroupVersionResource& resource, std::size_t& count) {
    for (GroupVersionKind& kind : resolver_.KindsFor(resource)) {
      kinds_.insert(std::move(kind));
      if (++count == kTypesMax) return false;
    }
    return true;
  }

  const TypeResolver& resolver_;
  Kinds kinds_;
};

// Prints as Go's GroupVersionKind.String(), which has a slash for the legacy group too.
std::string Printed(const GroupVersionKind& kind) {
  return kind.group + "/" + kind.version + ", Kind=" + kind.kind;
}

// Returns the type of a kind's objects. dyn: the schema says nothing about them.
cel::Type TypeOf(const runtime::Schema& schema, const std::string& name) {
  const std::optional<cel::Type> content = cel::TypeOfSchema(schema, name);
  if (!content) return cel::Type::Dyn();
  if (content->kind() != cel::TypeKind::kStruct) return *content;
  // Schemas of kinds leave out what every object has.
  std::vector<cel::StructField> fields(content->fields().begin(), content->fields().end());
  fields.push_back({"apiVersion", cel::Type::String()});
  fields.push_back({"kind", cel::Type::String()});
  return cel::Type::Struct({.name = name, .fields = std::move(fields)});
}

// The environment of a policy's expressions for objects of one kind.
struct TypedEnvironment {
  GroupVersionKind kind;
  cel::Environment environment;
};

class TypeChecker {
 public:
  TypeChecker(const runtime::Object& policy, const TypeResolver& resolver)
      : spec_(policy["spec"]), compiler_(SharedExpressionCompiler()) {
    const std::optional<cel::Type> params = ParamsType(resolver);
    const Value rules = spec_["matchConstraints"]["resourceRules"];
    for (const GroupVersionKind& kind : KindCollector(resolver).Collect(rules)) {
      const runtime::SchemaPtr schema = resolver.SchemaFor(kind);
      if (!schema) continue;
      environments_.push_back({kind, EnvironmentOf(TypeOf(*schema, kind.kind), params)});
    }
  }

  std::vector<ExpressionWarning> Check() {
    const Value validations = spec_["validations"];
    for (std::size_t i = 0; i < validations.size(); ++i) {
      const field::Path path = field::Path("spec").Child("validations").Index(i);
      for (const char* key : {"expression", "messageExpression"}) {
        const std::string_view text = validations.at(i)[key].AsString();
        if (!text.empty()) CheckExpression(text, path.Child(key));
      }
    }
    return std::move(warnings_);
  }

 private:
  // nullopt: there are no parameters, or nothing knows their kind; then `params` is not declared.
  std::optional<cel::Type> ParamsType(const TypeResolver& resolver) const {
    const Value kind = spec_["paramKind"];
    const auto version = codec::ParseGroupVersion(kind["apiVersion"].AsString());
    if (kind.is_null() || !version.ok()) return {};
    const std::string name(kind["kind"].AsString());
    const auto schema = resolver.SchemaFor({version->group, version->version, name});
    if (!schema) return {};
    return TypeOf(*schema, name + "@params");
  }

  cel::Environment EnvironmentOf(const cel::Type& object,
                                 const std::optional<cel::Type>& params) const {
    const Declarations declarations{
        .params = params.has_value(), .authorizer = true, .variables = true};
    const auto typed = [&](const std::vector<ComposedVariable>& variables) {
      std::vector<cel::Variable> declared = {{.name = "object", .type = object},
                                             {.name = "oldObject", .type = object}};
      if (params) declared.push_back({.name = "params", .type = *params});
      std::vector<cel::Type> types;
      for (const cel::Type& type : {object, params.value_or(cel::Type::Dyn())}) {
        if (type.kind() == cel::TypeKind::kStruct) types.push_back(type);
      }
      return compiler_->EnvironmentFor(cel::Mode::kStored, declarations, variables)
          .With(std::move(declared), std::move(types));
    };
    std::vector<ComposedVariable> variables;
    for (const Value& variable : spec_["variables"].items()) {
      // Errors of variables are not reported; the type of such a one is not known.
      const CompiledExpression compiled = compiler_->Compile(
          ExpressionUse::kVariable, variable["expression"].AsString(), typed(variables));
      variables.push_back({std::string(variable["name"].AsString()), ComposedTypeOf(compiled)});
    }
    return typed(variables);
  }

  void CheckExpression(std::string_view text, const field::Path& path) {
    std::string all;
    for (const TypedEnvironment& each : environments_) {
      const CompiledExpression compiled =
          compiler_->Compile(ExpressionUse::kVariable, text, each.environment);
      // Types do not depend on constants that cannot be converted.
      if (compiled.program || compiled.internal) continue;
      std::string_view issues = compiled.error;
      if (issues.starts_with(kCompilationFailed)) issues.remove_prefix(kCompilationFailed.size());
      if (!all.empty()) all += '\n';
      all.append(Printed(each.kind)).append(": ").append(issues).append("\n");
    }
    if (!all.empty()) warnings_.push_back({path.text(), std::move(all)});
  }

  const Value spec_;
  const std::shared_ptr<const ExpressionCompiler> compiler_;
  std::vector<TypedEnvironment> environments_;
  std::vector<ExpressionWarning> warnings_;
};

}  // namespace

std::vector<ExpressionWarning> CheckTypes(const runtime::Object& policy,
                                          const TypeResolver& resolver) {
  return TypeChecker(policy, resolver).Check();
}

}  // namespace apiserver::v0::admission::policy
