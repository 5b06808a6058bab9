#include "cel/environment_state.h"

#include <algorithm>
#include <array>
#include <string>

#include "cel/functions/libraries.h"

namespace apiserver::inline v0::cel {
namespace {

// The tables in the order in which Kubernetes adds the libraries: cel-go's standard library first,
// then pkg/cel/environment/base.go.
constexpr std::array kTables = {
    functions::Operators,  functions::Conversions, functions::Standard, functions::Matches,
    functions::Urls,       functions::Regex,       functions::Lists,    functions::Optionals,
    functions::Quantities, functions::Strings,     functions::Sets,     functions::Ips,
    functions::Cidrs,      functions::Formats,     functions::Semvers,  functions::ListExtensions,
};

bool IsOfVersion(const Function& row, int minor) { return row.since <= minor && minor < row.until; }

// Adds the overloads of a row to its function. One that is declared again, under the same id, takes
// the place of the first.
void AddRow(FunctionEntry& entry, const Function& row, int minor) {
  const auto row_index = static_cast<std::uint8_t>(entry.rows.size());
  entry.rows.push_back(&row);
  for (const Overload& overload : row.overloads) {
    if (overload.since > minor) continue;
    const auto same =
        std::find_if(entry.overloads.begin(), entry.overloads.end(),
                     [&overload](const Overload* declared) { return declared->id == overload.id; });
    if (same == entry.overloads.end()) {
      entry.overloads.push_back(&overload);
      entry.row_of.push_back(row_index);
    } else {
      *same = &overload;
      entry.row_of[static_cast<std::size_t>(same - entry.overloads.begin())] = row_index;
    }
  }
}

}  // namespace

FunctionTable::FunctionTable(KubernetesVersion version, std::span<const Library> libraries) {
  for (const auto table : kTables) AddTable(table(), version.minor);
  for (const Library library : libraries) {
    if (library == Library::kJsonPatch) AddTable(functions::JsonPatch(), version.minor);
  }
}

void FunctionTable::AddTable(std::span<const Function> table, int minor) {
  for (const Function& row : table) {
    if (!IsOfVersion(row, minor)) continue;
    FunctionEntry& entry = functions_[row.name];
    entry.name = row.name;
    AddRow(entry, row, minor);
  }
}

const FunctionEntry* FunctionTable::Find(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : &found->second;
}

bool FunctionTable::HasNamesBelow(std::string_view word) const {
  const std::string prefix = std::string(word) + ".";
  const auto next = functions_.lower_bound(prefix);
  return next != functions_.end() && next->first.starts_with(prefix);
}

LanguageFeatures FeaturesOf(KubernetesVersion version) {
  const int minor = version.minor;
  return {.optionals = minor >= 28,
          .two_variable_macros = minor >= 32,
          .literal_arguments = minor >= 29,
          .format_calls = minor >= 29,
          .network_types = minor >= 30,
          .reserved_field_names = minor >= 31,
          .key_sort_macro = minor >= 34};
}

std::optional<std::uint32_t> EnvironmentState::FindVariable(std::string_view name) const {
  for (std::size_t i = variables.size(); i-- > 0;) {
    if (variables[i].name == name) return static_cast<std::uint32_t>(i);
  }
  return std::nullopt;
}

}  // namespace apiserver::inline v0::cel
