#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/cel/arena.h"
#include "apiserver/cel/environment.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

// The variables of an expression: their declarations and values.
namespace cel_eval {

class Variables {
 public:
  // Adds NAME[:TYPE][=VALUE]. Without a type it is dyn; a value is JSON or YAML, or the file after
  // an @. Without a value the variable is declared, and reading it is an error of the evaluation.
  apiserver::Status Declare(std::string_view text);
  // Adds a variable with the part of a file at a path; a part that is missing gives it no value.
  // A null schema makes it dyn. Empty `file`: it has no value.
  apiserver::Status AddFile(const std::string& name, const std::string& file, const std::string& at,
                            const apiserver::runtime::SchemaPtr& schema);

  const std::vector<apiserver::cel::Variable>& declared() const { return declared_; }
  // Returns the values in the order of the declarations; views of data are made in `arena`. Valid
  // as long as this.
  std::vector<apiserver::cel::Input> Inputs(apiserver::cel::Arena& arena) const;

 private:
  struct Given {
    const apiserver::runtime::Value* data = nullptr;  // Null: no value.
    apiserver::runtime::SchemaPtr schema;             // Null: plain JSON.
    std::string error;                                // The one that reading it is, if no value.
  };
  apiserver::Status Add(apiserver::cel::Variable variable, Given given);
  apiserver::Result<const apiserver::runtime::Value*> Parse(const std::string& name,
                                                            std::string_view text);

  apiserver::runtime::Arena arena_;
  std::vector<apiserver::cel::Variable> declared_;
  std::vector<Given> given_;
};

}  // namespace cel_eval
