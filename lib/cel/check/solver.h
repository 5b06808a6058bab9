#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiserver/cel/type.h"
#include "cel/function.h"

// The types of one check: checker/types.go and checker/mapping.go of cel-go.
namespace apiserver::inline v0::cel::check {

// Returns the type without its wrapper: int for wrapper(int).
const TypeNode& Unwrapped(const TypeNode& type);
// Returns the value's type of an optional. Null: the type is no optional.
const TypeNode* OptionalValue(const TypeNode& type);
bool IsDyn(const TypeNode& type);         // dyn, any.
bool IsDynOrError(const TypeNode& type);  // dyn, any and the error type.
// Tells if the types are equal. A wrapper equals its scalar, as in cel-go.
bool IsExact(const TypeNode& a, const TypeNode& b);
// Prints a type as messages do; type variables by their names.
std::string Print(const TypeNode& type);

// Makes types and finds the types that type variables stand for. Types are nodes that live as long
// as the solver; Export() makes Types that outlive it. The work is bounded: when a type grows too
// large (`[1].map(a, {a: a}).map(a, {a: a})…` doubles it each time) or solving takes too long, the
// solver is exhausted, and every operation fails.
class Solver {
 public:
  // The tree of a type may have so many nodes, and so many levels.
  static constexpr std::uint32_t kSizeMax = 10'000;
  static constexpr std::uint32_t kDepthMax = 500;
  // Pairs of nodes that all comparisons of a check may look at.
  static constexpr std::uint64_t kStepsMax = 20'000'000;

  Solver() = default;
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  bool exhausted() const { return exhausted_; }

  // Makes a type variable, "_var0" and so on.
  const TypeNode& NewVariable();
  const TypeNode& List(const TypeNode& items);
  const TypeNode& Map(const TypeNode& keys, const TypeNode& values);
  const TypeNode& Optional(const TypeNode& value);
  const TypeNode& TypeOf(const TypeNode& type);

  // The types of an overload with new variables in the place of its type parameters.
  struct Instance {
    const TypeNode* result = nullptr;
    std::array<const TypeNode*, 4> arguments = {};
  };
  Instance Instantiate(const Signature& signature);
  // Counts the variables that Instantiate() would make: cel-go makes them before it looks at the
  // number of arguments, and messages name variables.
  void SkipVariablesOf(const Signature& signature);

  // Tell if a value of type `from` can stand where `to` is expected. On success the variables are
  // bound that this needs, else none is.
  bool Assign(const TypeNode& from, const TypeNode& to);
  bool AssignAll(std::span<const TypeNode* const> from, std::span<const TypeNode* const> to);
  // Returns the less specific of two types that agree: the one with dyn.
  const TypeNode& MostGeneral(const TypeNode& a, const TypeNode& b);

  // Returns the type with the types in it that variables are bound to.
  const TypeNode& Resolve(const TypeNode& type) { return ResolveAt(type, 0); }
  // Returns the type with dyn in the place of unbound variables.
  Type Export(const TypeNode& type) { return ExportAt(type, 0); }

 private:
  // A type variable. Like Composite it is told from other nodes by `open`, which nodes of these
  // kinds otherwise do not use.
  struct Variable : TypeNode {
    const TypeNode* binding = nullptr;
    std::array<char, 16> text = {};
  };
  // A list, map, optional or type of a type that the solver made.
  struct Composite : TypeNode {
    std::array<const TypeNode*, 2> slots = {};
    std::uint32_t size = 1;
    bool has_variables = false;
  };
  // Work of Solve(): `a` is assigned to `b`; or, with `merge`, this variable is bound to the more
  // general of its binding `b` and the type `a`, which agree.
  struct Task {
    const TypeNode* a;
    const TypeNode* b;
    Variable* merge = nullptr;
  };
  struct Change {
    Variable* variable;
    const TypeNode* before;
  };
  struct Parameter {
    std::string_view name;
    const TypeNode* variable;
  };

  static Variable* AsVariable(const TypeNode& type);
  static const Composite* AsComposite(const TypeNode& type);
  static bool HasVariables(const TypeNode& type);
  static std::uint32_t SizeOf(const TypeNode& type);

  bool Step();
  const TypeNode& Make(TypeKind kind, std::string_view name,
                       std::initializer_list<const TypeNode*> parameters);
  const TypeNode& InstantiateNode(const TypeNode& node, std::vector<Parameter>& parameters);
  bool Solve();
  bool Match(const TypeNode& a, const TypeNode& b);
  bool MatchFixed(const TypeNode& a, const TypeNode& b);
  bool Substitute(const TypeNode& type, Variable& variable);
  void Bind(Variable& variable, const TypeNode& type);
  bool IsReferencedIn(const Variable& variable, const TypeNode& type);
  const TypeNode& Rebuild(const TypeNode& type, std::span<const TypeNode* const> parameters);
  const TypeNode& ResolveAt(const TypeNode& type, std::uint32_t depth);
  Type ExportAt(const TypeNode& type, std::uint32_t depth);
  Type ExportParameters(const TypeNode& type, std::uint32_t depth);

  std::deque<Variable> variables_;
  std::deque<Composite> composites_;
  std::uint32_t next_variable_ = 0;
  std::vector<Task> tasks_;
  std::vector<Change> changes_;
  std::unordered_map<const TypeNode*, Type> exported_;
  std::uint64_t steps_ = 0;
  bool exhausted_ = false;
};

}  // namespace apiserver::inline v0::cel::check
