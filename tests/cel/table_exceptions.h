#pragma once

#include <string_view>
#include <vector>

namespace cel_test {

// Rows of tests/cel/data that have another answer than Go's, and why.
struct Exception {
  std::string_view file;
  std::string_view row;  // The row's name; all that begin with it if it ends with '*'.
  std::string_view reason;
};

// The exceptions of one file.
class Exceptions {
 public:
  explicit Exceptions(std::string_view file);

  // Returns the exception that holds for a row. Null: the row must be equal.
  const Exception* Find(std::string_view row, std::string_view expression);
  // Returns those that no row has asked for.
  std::vector<const Exception*> Unused() const;

 private:
  struct Entry {
    const Exception* exception;
    bool used;
  };
  std::vector<Entry> entries_;
};

}  // namespace cel_test
