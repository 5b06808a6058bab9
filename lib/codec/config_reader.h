#pragma once  // Library-internal: other rooms include this header.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::codec {

// Reads a configuration file (one YAML or JSON document with apiVersion and kind) strictly. It
// reports every fault with its line and the correct form. A field of another type reads as absent.
class ConfigReader {
 public:
  // `text` outlives the reader.
  explicit ConfigReader(std::string_view text) : text_(text) {}

  // Returns the document if it can be read and has this kind and one of these versions. kInvalid.
  Result<runtime::Value> Parse(std::string_view kind,
                               std::initializer_list<std::string_view> api_versions);

  // Reports members of `map` that are not `known`.
  void CheckFields(const field::Path& path, runtime::Value map,
                   std::initializer_list<std::string_view> known);
  // Returns whether `value` is a map. Null is none; anything else is an error.
  bool IsMap(const field::Path& path, runtime::Value value);
  std::string Text(const field::Path& path, runtime::Value value);
  std::optional<bool> Bool(const field::Path& path, runtime::Value value);
  std::optional<std::int64_t> Number(const field::Path& path, runtime::Value value);
  std::vector<std::string> Texts(const field::Path& path, runtime::Value value);
  // Items of a list with their paths; empty for null.
  struct Item {
    field::Path path;
    runtime::Value value;
  };
  std::vector<Item> Items(const field::Path& path, runtime::Value value);

  // Reports that the value there is wrong, because of `what`.
  void Wrong(const field::Path& path, std::string_view what);
  void Wrong(const field::ErrorList& errors);
  // Returns kInvalid with all faults, in the order of the file.
  Status Outcome() const;

 private:
  struct Finding {
    std::size_t line;
    std::string text;
  };
  bool Is(const field::Path& path, runtime::Value value, bool right, std::string_view what);

  std::string_view text_;
  runtime::Arena arena_;
  std::vector<Finding> findings_;
};

// Returns the line, from 1, in which the value at `path` ("rules[2].level") begins in a YAML
// document, or that of the nearest value around it. 0: the text cannot be read.
std::size_t YamlLineOf(std::string_view text, std::string_view path);

}  // namespace apiserver::inline v0::codec
