#include "apiserver/cel/program.h"

#include "cel/plan/program_state.h"

namespace apiserver::inline v0::cel {

const Type& Program::result_type() const { return state_->result_type; }

bool Program::Uses(std::string_view variable) const {
  const std::optional<std::uint32_t> index = state_->environment.state().FindVariable(variable);
  return index.has_value() && state_->uses[*index];
}

const std::set<std::string, std::less<>>& Program::FieldNamesUsed() const {
  return state_->field_names;
}

CostRange Program::estimate() const { return state_->estimate; }

}  // namespace apiserver::inline v0::cel
