#include "apiserver/cel/environment.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cel/environment_state.h"

namespace apiserver::inline v0::cel {
namespace {

// The version whose functions and language stored text may use: everything that is written here.
constexpr KubernetesVersion kNewest = {1, 36};

template <class T>
void Append(std::vector<T>& all, std::vector<T> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Environment Environment::Kubernetes(KubernetesVersion compatible_with, Mode mode) {
  auto made = std::make_shared<EnvironmentState>();
  made->version = mode == Mode::kStored ? kNewest : std::min(compatible_with, kNewest);
  made->features = FeaturesOf(made->version);
  made->functions = std::make_shared<FunctionTable>(made->version, made->libraries);
  return Environment(std::move(made));
}

Environment Environment::With(std::vector<Variable> variables, std::vector<Type> types,
                              std::vector<Library> libraries) const {
  auto made = std::make_shared<EnvironmentState>(*state_);
  Append(made->variables, std::move(variables));
  Append(made->types, std::move(types));
  if (!libraries.empty()) {
    Append(made->libraries, std::move(libraries));
    made->functions = std::make_shared<FunctionTable>(made->version, made->libraries);
  }
  return Environment(std::move(made));
}

std::size_t Environment::variable_count() const { return state_->variables.size(); }

const Variable& Environment::variable(std::size_t index) const { return state_->variables[index]; }

}  // namespace apiserver::inline v0::cel
