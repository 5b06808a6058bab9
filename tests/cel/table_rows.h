#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"
#include "cel/judge.h"

// The rows of tests/cel/data: tests/cel/data/README.md says what they hold.
namespace cel_test {

// An expression that Go has answered.
struct Row {
  // The test of cel-spec, or the group's table and case with the expression. Rows of one file may
  // share a name.
  std::string name;
  std::size_t group = 0;               // Rows of one group share an environment.
  apiserver::runtime::Value declared;  // The environment.
  apiserver::runtime::Value inputs;
  apiserver::runtime::Value question;
};

// A file of data, read whole.
class RowFile {
 public:
  // `name`: without folder and ending. Fails the test if there is no such file.
  explicit RowFile(const std::string& name);
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  // The rows with an expression.
  std::span<const Row> rows() const { return rows_; }
  // The lines that are upstream's own rows.
  std::span<const apiserver::runtime::Value> upstream() const { return upstream_; }

 private:
  std::string text_;
  apiserver::runtime::Arena arena_;
  std::vector<Row> rows_;
  std::vector<apiserver::runtime::Value> upstream_;
};

// A row and how our answer differs from Go's.
struct Judged {
  const Row* row;
  std::vector<Difference> differences;  // Empty: the answers are equal.
};
// Answers every row of a file. An environment that the room cannot make is a difference of its own.
std::vector<Judged> Judge(const RowFile& file);

}  // namespace cel_test
