#pragma once

#include <span>
#include <string>

#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"

// Plain C++ structs from the schemas of kinds, for runtime/typed.h. The program apiserver-gen calls
// this for CustomResourceDefinitions; a program with kinds of its own may call it for those.
namespace apiserver::inline v0::generator {

// The names that a header uses.
struct TypedHeaderOptions {
  // The namespace of the structs, "zoo" or "com::example"; a version's are in one more: zoo::v1.
  std::string name_space;
  std::string made_from = "";  // Named in the first line: "pets.yaml".
  // True: an object whose schema has a name, as the definitions of OpenAPI documents have, has one
  // struct in a namespace, named by the last part of that name: io.k8s.api.core.v1.PodSpec becomes
  // PodSpec.
  bool share_definitions = false;
};

// Writes a header that declares, for each version of each kind, a struct named as the kind, and one
// for each object within it, named by its path: PetSpecToysItem. In a struct
//
// - a member is named as in JSON; a C++ keyword, a macro of the C library, or a character that no
//   C++ name may have becomes or gets an underscore,
// - a field that may be absent is a std::optional, a list a std::vector, a map a std::map with
//   strings as keys, metadata a runtime::ObjectMeta, and what the schema leaves open a typed::Any,
// - Path, in the struct of the kind, has a constant for each field's path: kSpecReplicas. Of
//   more than 20,000 the deepest are left out.
//
// kInvalid: `name_space` is no name of a namespace, or two kinds have one name in a version.
Result<std::string> TypedHeader(std::span<const runtime::KindPtr> kinds,
                                const TypedHeaderOptions& options);

}  // namespace apiserver::inline v0::generator
