#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/cel/arena.h"
#include "apiserver/cel/environment.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/runtime/arena.h"
#include "cel/generate.h"

// Variables of every type with values, for programs that evaluate expressions of any origin.
namespace cel_test {

class SmallWorld {
 public:
  SmallWorld();

  // The environment of a version with the variables.
  apiserver::cel::Environment In(apiserver::cel::KubernetesVersion version,
                                 apiserver::cel::Mode mode) const {
    return apiserver::cel::Environment::Kubernetes(version, mode).With(variables_);
  }
  // The values in the order of the variables.
  const std::vector<apiserver::cel::Input>& inputs() const { return inputs_; }
  // Expressions that name the variables and parts of them.
  const std::vector<Term>& terms() const { return terms_; }

 private:
  void Add(std::string name, std::string_view type, apiserver::cel::Variable variable,
           apiserver::cel::Value value);
  void AddScalars();
  void AddData();
  void AddSelf();
  apiserver::runtime::Value Parse(std::string_view json);

  apiserver::runtime::Arena data_;
  apiserver::cel::Arena views_;
  std::vector<apiserver::cel::Variable> variables_;
  std::vector<apiserver::cel::Input> inputs_;
  std::vector<Term> terms_;
};

}  // namespace cel_test
