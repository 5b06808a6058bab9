#include "cel/admission_types.h"

#include <string>
#include <utility>

namespace cel_test {
namespace {

namespace cel = apiserver::cel;
using cel::Type;

Type Strings() { return Type::List(Type::String()); }

Type Object(std::string name, std::vector<cel::StructField> fields) {
  return Type::Struct({.name = std::move(name), .fields = std::move(fields)});
}

// A group, version and kind or resource.
Type Coordinates(std::string name, std::string last) {
  return Object(
      std::move(name),
      {{"group", Type::String()}, {"version", Type::String()}, {std::move(last), Type::String()}});
}

// BuildRequestType.
Type Request() {
  const Type kind = Coordinates("kubernetes.GroupVersionKind", "kind");
  const Type resource = Coordinates("kubernetes.GroupVersionResource", "resource");
  const Type user =
      Object("kubernetes.UserInfo", {{"username", Type::String()},
                                     {"uid", Type::String()},
                                     {"groups", Strings()},
                                     {"extra", Type::Map(Type::String(), Strings())}});
  return Object("kubernetes.AdmissionRequest", {{"kind", kind},
                                                {"resource", resource},
                                                {"subResource", Type::String()},
                                                {"requestKind", kind},
                                                {"requestResource", resource},
                                                {"requestSubResource", Type::String()},
                                                {"name", Type::String()},
                                                {"namespace", Type::String()},
                                                {"operation", Type::String()},
                                                {"userInfo", user},
                                                {"dryRun", Type::Bool()},
                                                {"options", Type::Dyn()}});
}

// BuildNamespaceType.
Type Namespace() {
  const Type condition =
      Object("kubernetes.NamespaceCondition", {{"status", Type::String()},
                                               {"type", Type::String()},
                                               {"lastTransitionTime", Type::Timestamp()},
                                               {"message", Type::String()},
                                               {"reason", Type::String()}});
  const Type texts = Type::Map(Type::String(), Type::String());
  const Type metadata =
      Object("kubernetes.NamespaceMetadata", {{"name", Type::String()},
                                              {"generateName", Type::String()},
                                              {"namespace", Type::String()},
                                              {"labels", texts},
                                              {"annotations", texts},
                                              {"UID", Type::String()},
                                              {"creationTimestamp", Type::Timestamp()},
                                              {"deletionGracePeriodSeconds", Type::Int()},
                                              {"deletionTimestamp", Type::Timestamp()},
                                              {"generation", Type::Int()},
                                              {"resourceVersion", Type::String()},
                                              {"finalizers", Strings()}});
  const Type spec = Object("kubernetes.NamespaceSpec", {{"finalizers", Strings()}});
  const Type status = Object("kubernetes.NamespaceStatus",
                             {{"conditions", Type::List(condition)}, {"phase", Type::String()}});
  return Object("kubernetes.Namespace",
                {{"metadata", metadata}, {"spec", spec}, {"status", status}});
}

// Appends a type and the struct types of its fields, which expressions may name.
void AppendNamed(const Type& type, std::vector<Type>& named) {
  for (std::size_t i = 0; i < type.parameter_count(); ++i) AppendNamed(type.parameter(i), named);
  if (type.kind() != cel::TypeKind::kStruct) return;
  named.push_back(type);
  for (const cel::StructField& field : type.fields()) AppendNamed(field.type, named);
}

}  // namespace

cel::Environment WithAdmissionVariables(const cel::Environment& environment,
                                        AdmissionVariables which) {
  const Type request = Request();
  const Type name_space = Namespace();
  std::vector<cel::Variable> variables = {{"object", Type::Dyn()},
                                          {"oldObject", Type::Dyn()},
                                          {"namespaceObject", name_space},
                                          {"request", request}};
  if (which.params) variables.push_back({"params", Type::Dyn()});
  if (which.authorizer) {
    variables.push_back({"authorizer", Type::Struct("kubernetes.authorization.Authorizer")});
    variables.push_back(
        {"authorizer.requestResource", Type::Struct("kubernetes.authorization.ResourceCheck")});
  }
  std::vector<Type> named;
  AppendNamed(name_space, named);
  AppendNamed(request, named);
  return environment.With(std::move(variables), std::move(named));
}

cel::Environment WithPatchTypes(const cel::Environment& environment) {
  const Type object = Type::Struct(cel::StructType{.name = "Object", .open = true});
  const Type patch = Object("JSONPatch", {{"op", Type::String()},
                                          {"from", Type::String()},
                                          {"path", Type::String()},
                                          {"value", Type::Dyn()}});
  return environment.With({}, {object, patch}, {cel::Library::kJsonPatch});
}

}  // namespace cel_test
