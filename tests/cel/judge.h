#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/cel/environment.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

// Our answers to the lines that the oracle reads (tests/oracle/cel), and what differs from Go's.
namespace apiserver::celtest {

// An answer: members by name (issues, type, estimate, program_error, value, error, cost) with texts
// that are equal if the members are.
using Answer = std::map<std::string, std::string>;

// Takes the oracle's answer out of its line.
Answer AnswerOf(const runtime::Value& go);

// An environment as a line declares it.
class DeclaredEnvironment {
 public:
  // kInternalError: the environment needs something that no public function makes.
  static Result<DeclaredEnvironment> From(const runtime::Value& declaration);

  // Compiles and evaluates `question.expr` with the values of `inputs`.
  Result<Answer> Ask(const runtime::Value& question, const runtime::Value& inputs) const;

 private:
  struct Seen {
    runtime::SchemaPtr schema;  // The one that values are seen through. Null: plain JSON.
    bool optional = false;
  };
  explicit DeclaredEnvironment(cel::Environment environment)
      : environment_(std::move(environment)) {}

  cel::Environment environment_;
  std::vector<Seen> seen_;  // By variable.
};

// A member in which an answer differs from Go's.
struct Difference {
  std::string member;
  std::string go;
  std::string ours;
  // The reason why it may differ, one of cel.md's list; empty: it is a fault.
  std::string_view excuse = {};
};
// Compares what the question asks for.
std::vector<Difference> Compare(const runtime::Value& question, const Answer& go,
                                const Answer& ours);

}  // namespace apiserver::celtest
