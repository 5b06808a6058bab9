#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "apiserver/cel/environment.h"
#include "apiserver/cel/type.h"
#include "cel/function.h"

// The inside of an Environment.
namespace apiserver::inline v0::cel {

// A function of an Environment: the rows of one name merged.
struct FunctionEntry {
  std::string_view name;
  std::vector<const Overload*> overloads;  // In declaration order.
  std::vector<const Function*> rows;
  // The row that runs an overload: rows[row_of[i]] has overloads[i].
  std::vector<std::uint8_t> row_of;
};

// The functions of a version and a set of libraries, shared by all Environments that extend it.
// Rows of one name are merged in the order of the libraries, which is that of
// pkg/cel/environment/base.go: it decides which overload a call with dyn arguments matches first.
class FunctionTable {
 public:
  FunctionTable(KubernetesVersion version, std::span<const Library> libraries);

  // Returns the function of that name. Null: there is none.
  const FunctionEntry* Find(std::string_view name) const;
  // Tells if there are functions whose names begin with the word and a dot: "sets.contains".
  bool HasNamesBelow(std::string_view word) const;

 private:
  void AddTable(std::span<const Function> table, int minor);

  std::map<std::string_view, FunctionEntry> functions_;
};

// Facts about the language of a version, which are not functions.
struct LanguageFeatures {
  bool optionals = true;             // .?  [?  {?  optMap; since 1.28.
  bool two_variable_macros = true;   // all(k, v, p), transformMap; since 1.32.
  bool literal_arguments = true;     // duration('x') does not compile; since 1.29.
  bool format_calls = true;          // Arguments of format() are checked; since 1.29.
  bool network_types = true;         // net.IP and net.CIDR are names of types; since 1.30.
  bool reserved_field_names = true;  // self.namespace; since 1.31.
  bool key_sort_macro = true;        // sortBy; since 1.34.
  bool presence_test_costs = false;  // has() costs 1: for tables of cel-go, not in Kubernetes.
};
LanguageFeatures FeaturesOf(KubernetesVersion version);

// The content of an Environment. Immutable once it is shared.
class EnvironmentState {
 public:
  KubernetesVersion version;  // The one whose features count: for kStored the newest.
  std::vector<Library> libraries;
  LanguageFeatures features;
  std::shared_ptr<const FunctionTable> functions;
  std::vector<Variable> variables;
  std::vector<Type> types;  // Named types beside those of the language.

  // Returns the index of a variable, the last of that name. nullopt: there is none.
  std::optional<std::uint32_t> FindVariable(std::string_view name) const;

  static Environment Wrap(std::shared_ptr<const EnvironmentState> state) {
    return Environment(std::move(state));
  }
};

}  // namespace apiserver::inline v0::cel
