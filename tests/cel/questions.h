#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

// Questions for the judge and the oracle (tests/oracle/cel), as lines of JSON.
namespace cel_test {

// The numbers of questions, and of random schemas that some of them are about.
struct Wanted {
  std::size_t expressions = 0;
  std::size_t schemas = 0;
  std::string file = {};  // Not empty: the expressions are its lines, asked in every environment.
};

// Writes the environments and inputs of `file` (worlds.jsonl: declarations, inputs, and terms with
// their types) and of random schemas, and questions about expressions made at random. Throws
// std::runtime_error if the file cannot be read, as WriteMutated does.
void WriteGenerated(std::uint64_t seed, const Wanted& wanted, const std::string& file,
                    std::ostream& out);

// Writes the groups of a table (tests/cel/data) with `count` questions each about mutations of
// their expressions.
void WriteMutated(std::uint64_t seed, std::size_t count, const std::string& file,
                  std::ostream& out);

}  // namespace cel_test
