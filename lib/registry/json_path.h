#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/schema_node.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::registry {

// A JSONPath of a printer column, as client-go's util/jsonpath reads it: ".a.b", "['a']", ".a\.b",
// "[0]", "[-1]", "[1:3]", "[*]", ".*", "..a", "[0,2]", "[?(@.type=="Ready")]", "[?(@.a)]", with or
// without braces around. Immutable.
class JsonPath {
 public:
  // Parses a path. kInvalid: it is not one.
  static Result<JsonPath> Parse(std::string_view text);

  // Checks that the path leads to something in values of `schema`. kInvalid: it does not; the
  // message begins with the part that leads nowhere.
  Status Check(const runtime::Schema& schema) const;

  // Returns the first value found. Null: there is none, or client-go fails: an index is out of
  // bounds, no list is where one must be, or values cannot be compared. Looks at a million values
  // at most.
  runtime::Value First(runtime::Value root) const;

 private:
  friend class JsonPathParser;
  friend class JsonPathFinder;
  enum class Kind : std::uint8_t {
    kMember,
    kAll,    // ".*": all members or items.
    kBelow,  // "..": every list and map below that is not empty, from the top down.
    kSlice,
    kFilter,
    kUnion,
    kConstant,  // In a filter.
    kFailing,   // What client-go can parse but not evaluate.
  };
  struct Step;
  using Steps = std::vector<Step>;
  struct Step {
    Kind kind = Kind::kMember;
    // kMember: the key. kFilter: the operator; empty: the value only has to exist.
    std::string text = {};
    // kSlice: absent where the path does not say it.
    std::optional<std::int64_t> begin = std::nullopt;
    std::optional<std::int64_t> end = std::nullopt;
    std::optional<std::int64_t> step = std::nullopt;
    bool single = false;  // kSlice: it is an index.
    // kConstant: a text is in `text`.
    runtime::Value constant = {};
    // kFilter: the left side and the right side. kUnion: its alternatives.
    std::vector<Steps> parts = {};
  };
  static std::string TextOf(const Step& step);

  Steps steps_;
};

// A value as a cell or a field selector shows it: text as it is, numbers and booleans printed,
// lists and maps as JSON, null as nothing.
std::string TextOf(runtime::Value value);

}  // namespace apiserver::inline v0::registry
