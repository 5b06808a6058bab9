#include "apiserver/cel/program.h"

#include <algorithm>

#include "cel/environment/environment_state.h"
#include "cel/run/program_state.h"

namespace apiserver::v0::cel {

const Type& Program::result_type() const { return state_->result_type; }

bool Program::Uses(std::string_view variable) const {
  const std::optional<std::uint32_t> index = state_->environment.state().FindVariable(variable);
  return index.has_value() && state_->uses[*index];
}

bool Program::UsesField(std::string_view name) const {
  return std::ranges::any_of(state_->names, [name](const FieldName& field) {
    return field.selected && field.name == name;
  });
}

CostRange Program::estimate() const { return state_->estimate; }

}  // namespace apiserver::v0::cel
