#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string_view>

#include "cel/check/checked.h"
#include "cel/check/solver.h"
#include "cel/environment_state.h"

// The names that an Environment gives to an expression: checker/env.go of cel-go and the type
// providers of k8s.io/apiserver/pkg/cel.
namespace apiserver::inline v0::cel::check {

// Resolves names for one check.
class Names {
 public:
  // Borrows both.
  Names(const EnvironmentState& environment, Solver& solver)
      : environment_(environment), solver_(solver) {}

  // The thing that an identifier names, and the type of the identifier.
  struct Named {
    Reference reference;
    const TypeNode* type;
  };
  // Returns what a name means outside of comprehensions; it may be dotted and must not begin with a
  // dot. nullopt: it is not declared.
  std::optional<Named> Find(std::string_view name);

  // Tells if a name that begins with this word and a dot may be declared.
  bool MayBeDotted(std::string_view first_word) const;

  // The result of a look-up of a field.
  struct FieldType {
    const TypeNode* type = nullptr;  // Null: there is no such field.
    bool is_struct = true;           // False: there is no struct type of that name.
  };
  // Returns the type of a field of a struct type, a message or another type that a message literal
  // names. `name`: the type's.
  FieldType FindField(std::string_view name, const TypeNode& type, std::string_view field) const;

 private:
  // The types that the host declares: Environment's, and the struct types in their fields.
  const TypeNode* FindDeclared(std::string_view name);
  void IndexDeclared();
  Named NamedType(const TypeNode& type, const TypeNode& type_of, bool has_value) const;

  const EnvironmentState& environment_;
  Solver& solver_;
  bool indexed_ = false;
  std::map<std::string_view, const TypeNode*> declared_;
  std::deque<Type> made_;  // Struct types "Object.spec" of open types.
};

}  // namespace apiserver::inline v0::cel::check
