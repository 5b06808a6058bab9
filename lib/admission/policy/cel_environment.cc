#include "admission/policy/cel_environment.h"

#include "apiserver/cel/authorizer.h"

namespace apiserver::v0::admission::policy {

namespace {

using cel::StructField;
using cel::Type;

// The oldest version whose servers must understand what is written now.
constexpr cel::KubernetesVersion kCompatible{1, 35};

Type StructOf(std::string name, std::vector<StructField> fields) {
  return Type::Struct(cel::StructType{.name = std::move(name), .fields = std::move(fields)});
}

// Follows BuildRequestType: without uid, object and oldObject.
Type RequestType() {
  const Type text = Type::String();
  const Type kind =
      StructOf("kubernetes.GroupVersionKind", {{"group", text}, {"version", text}, {"kind", text}});
  const Type resource = StructOf("kubernetes.GroupVersionResource",
                                 {{"group", text}, {"version", text}, {"resource", text}});
  const Type user = StructOf("kubernetes.UserInfo", {{"username", text},
                                                     {"uid", text},
                                                     {"groups", Type::List(text)},
                                                     {"extra", Type::Map(text, Type::List(text))}});
  return StructOf("kubernetes.AdmissionRequest", {{"kind", kind},
                                                  {"resource", resource},
                                                  {"subResource", text},
                                                  {"requestKind", kind},
                                                  {"requestResource", resource},
                                                  {"requestSubResource", text},
                                                  {"name", text},
                                                  {"namespace", text},
                                                  {"operation", text},
                                                  {"userInfo", user},
                                                  {"dryRun", Type::Bool()},
                                                  {"options", Type::Dyn()}});
}

// Follows BuildNamespaceType.
Type NamespaceType() {
  const Type text = Type::String();
  const Type texts = Type::List(text);
  const Type labels = Type::Map(text, text);
  const Type condition =
      StructOf("kubernetes.NamespaceCondition", {{"status", text},
                                                 {"type", text},
                                                 {"lastTransitionTime", Type::Timestamp()},
                                                 {"message", text},
                                                 {"reason", text}});
  const Type metadata =
      StructOf("kubernetes.NamespaceMetadata", {{"name", text},
                                                {"generateName", text},
                                                {"namespace", text},
                                                {"labels", labels},
                                                {"annotations", labels},
                                                {"UID", text},
                                                {"creationTimestamp", Type::Timestamp()},
                                                {"deletionGracePeriodSeconds", Type::Int()},
                                                {"deletionTimestamp", Type::Timestamp()},
                                                {"generation", Type::Int()},
                                                {"resourceVersion", text},
                                                {"finalizers", texts}});
  return StructOf("kubernetes.Namespace",
                  {{"metadata", metadata},
                   {"spec", StructOf("kubernetes.NamespaceSpec", {{"finalizers", texts}})},
                   {"status", StructOf("kubernetes.NamespaceStatus",
                                       {{"conditions", Type::List(condition)}, {"phase", text}})}});
}

Type JSONPatchType() {
  const Type text = Type::String();
  return StructOf("JSONPatch", {{"op", text}, {"path", text}, {"from", text}, {"value", {}}});
}

Type ObjectType() { return Type::Struct(cel::StructType{.name = "Object", .open = true}); }

// The variables and types that all expressions know. `patch_types`: those of mutations too.
cel::Environment BaseOf(cel::Mode mode, bool patch_types) {
  const Type request = RequestType();
  const Type ns = NamespaceType();
  std::vector<Type> types = {ns, request};
  std::vector<cel::Library> libraries;
  if (patch_types) {
    types.push_back(ObjectType());
    types.push_back(JSONPatchType());
    libraries.push_back(cel::Library::kJsonPatch);
  }
  return cel::Environment::Kubernetes(kCompatible, mode)
      .With({{.name = "object", .type = Type::Dyn()},
             {.name = "oldObject", .type = Type::Dyn()},
             {.name = "namespaceObject", .type = ns},
             {.name = "request", .type = request}},
            std::move(types), std::move(libraries));
}

// The types that a use accepts; none: all.
std::vector<Type> ResultTypesOf(ExpressionUse use) {
  switch (use) {
    case ExpressionUse::kVariable:
      return {};
    case ExpressionUse::kMatchCondition:
    case ExpressionUse::kValidation:
      return {Type::Bool()};
    case ExpressionUse::kMessage:
      return {Type::String()};
    case ExpressionUse::kAuditAnnotation:
      return {Type::String(), Type::Null()};
    case ExpressionUse::kApplyConfiguration:
      return {ObjectType()};
    case ExpressionUse::kJSONPatch:
      break;
  }
  return {Type::List(JSONPatchType())};
}

// Follows convertCelTypeToDeclType.
Type ComposedType(const Type& type) {
  using cel::TypeKind;
  switch (type.kind()) {
    case TypeKind::kAny:
    case TypeKind::kBool:
    case TypeKind::kBytes:
    case TypeKind::kDouble:
    case TypeKind::kDuration:
    case TypeKind::kInt:
    case TypeKind::kNull:
    case TypeKind::kString:
    case TypeKind::kTimestamp:
    case TypeKind::kUint:
      return type;
    case TypeKind::kList:
      return Type::List(ComposedType(type.parameter(0)));
    case TypeKind::kMap:
      return Type::Map(ComposedType(type.parameter(0)), ComposedType(type.parameter(1)));
    default:
      return Type::Dyn();
  }
}

}  // namespace

ExpressionCompiler::ExpressionCompiler() {
  for (const cel::Mode mode : {cel::Mode::kNew, cel::Mode::kStored}) {
    for (const bool patch_types : {false, true}) bases_.push_back(BaseOf(mode, patch_types));
  }
}

const cel::Environment& ExpressionCompiler::BaseFor(cel::Mode mode,
                                                    const Declarations& declarations) const {
  return bases_[(mode == cel::Mode::kNew ? 0 : 2) + (declarations.patch_types ? 1 : 0)];
}

cel::Environment ExpressionCompiler::EnvironmentFor(
    cel::Mode mode, const Declarations& declarations,
    const std::vector<ComposedVariable>& variables) const {
  // Each variable has a place of its own, whether it is declared or not, so that all expressions of
  // a policy share their inputs. No expression can spell the name of one that is not.
  const auto named = [](bool declared, std::string name) {
    return declared ? std::move(name) : "@" + name;
  };
  std::vector<StructField> fields;
  fields.reserve(variables.size());
  for (const ComposedVariable& variable : variables) {
    fields.push_back({variable.name, variable.type});
  }
  std::vector<cel::Variable> declared = {
      {.name = named(declarations.params, "params"), .type = Type::Dyn()},
      {.name = named(declarations.authorizer, "authorizer"), .type = cel::AuthorizerType()},
      {.name = named(declarations.authorizer, "authorizer.requestResource"),
       .type = cel::ResourceCheckType()},
      // An unknown name is an undefined field. Each known one is a variable of its own, which is
      // evaluated only if it is read.
      {.name = named(declarations.variables, "variables"),
       .type = StructOf("kubernetes.variables", std::move(fields))}};
  for (const ComposedVariable& variable : variables) {
    declared.push_back({.name = named(declarations.variables, "variables." + variable.name),
                        .type = variable.type});
  }
  return BaseFor(mode, declarations).With(std::move(declared));
}

CompiledExpression ExpressionCompiler::Compile(ExpressionUse use, std::string_view text,
                                               const cel::Environment& environment) const {
  cel::CompileStage stage = cel::CompileStage::kDone;
  auto program = cel::Compile(environment, text, {.result_types = ResultTypesOf(use)}, &stage);
  if (program.ok()) return {.program = *std::move(program)};
  return {.error = std::string(program.status().message()),
          .internal = stage == cel::CompileStage::kProgram};
}

std::shared_ptr<const ExpressionCompiler> SharedExpressionCompiler() {
  static const auto compiler = std::make_shared<const ExpressionCompiler>();
  return compiler;
}

cel::Type ComposedTypeOf(const CompiledExpression& compiled) {
  return compiled.program ? ComposedType(compiled.program->result_type()) : Type::Dyn();
}

}  // namespace apiserver::v0::admission::policy
