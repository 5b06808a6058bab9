#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/cel/environment.h"
#include "apiserver/runtime/value.h"

// Our answers to the questions of tests/cel/data, which the Go oracle has answered
// (tests/oracle/cel/README.md says how they are written).
namespace cel_test {

// An answer: members by name (issues, type, estimate, program_error, value, error, cost) with texts
// that are equal if the members are.
using Answer = std::map<std::string, std::string>;

// Reads the oracle's answer.
Answer AnswerOf(const apiserver::runtime::Value& go);

// An environment as a line of data declares it.
class DeclaredEnvironment {
 public:
  // An error: the environment needs something that the room does not have.
  static apiserver::Result<DeclaredEnvironment> From(const apiserver::runtime::Value& declaration);

  // Compiles and evaluates `question.expr` with the values of `inputs`.
  apiserver::Result<Answer> Ask(const apiserver::runtime::Value& question,
                                const apiserver::runtime::Value& inputs) const;

 private:
  // The way in which a variable's values are made.
  struct Seen {
    apiserver::runtime::SchemaPtr schema;  // Values are seen through it. Null: plain JSON.
    bool optional = false;
  };
  explicit DeclaredEnvironment(apiserver::cel::Environment environment)
      : environment_(std::move(environment)) {}

  apiserver::Status Declare(const apiserver::runtime::Value& declaration);
  void TakeEstimate(std::string_view expression, Answer& answer) const;

  apiserver::cel::Environment environment_;
  std::vector<Seen> seen_;  // By variable.
  // The estimate takes every string and bytes for 0 to so many long, and knows no other size.
  std::optional<std::uint64_t> text_size_;
};

// A member in which an answer differs from Go's.
struct Difference {
  std::string member;
  std::string go;
  std::string ours;
};
// Compares two answers. A stopped evaluation has spent what it had when the limit was looked at, so
// that its cost is not compared.
std::vector<Difference> Differences(const Answer& go, const Answer& ours);

}  // namespace cel_test
