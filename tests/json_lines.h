#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

namespace apiserver::testing {

// The lines of a file of JSON lines, as those of tests/cel/data, without the first, which names
// their source.
class JsonLines {
 public:
  explicit JsonLines(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      const Result<runtime::Value> row = codec::ParseJson(line, arena_);
      REQUIRE(row.status() == Status());
      rows_.push_back(runtime::Copy(*row, arena_));
    }
    REQUIRE_FALSE(rows_.empty());
  }
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;

  const std::vector<runtime::Value>& rows() const { return rows_; }

  // Returns the text of a member, empty if it is missing.
  static std::string Text(runtime::Value map, std::string_view key) {
    return std::string(map[key].AsString());
  }
  static std::vector<std::string> Texts(runtime::Value list) {
    std::vector<std::string> texts;
    for (const runtime::Value item : list.items()) texts.emplace_back(item.AsString());
    return texts;
  }

 private:
  runtime::Arena arena_;
  std::vector<runtime::Value> rows_;
};

// Returns the text between "```yaml" and "```" in a document, the `index`th of them.
inline std::string YamlBlock(const std::string& path, int index) {
  std::ifstream file(path);
  std::string block;
  std::string line;
  bool inside = false;
  while (std::getline(file, line)) {
    if (line == "```yaml") {
      inside = index-- == 0;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      block += line + "\n";
    }
  }
  REQUIRE_FALSE(block.empty());
  return block;
}

}  // namespace apiserver::testing
