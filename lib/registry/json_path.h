#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/schema_node.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::registry {

// The JSONPath that printer columns are written in: ".a.b", "['a']", ".a\.b", "[0]", "[-1]", "[*]",
// "[?(@.type=="Ready")]", with or without braces around. Immutable.
class JsonPath {
 public:
  // kInvalid: anything else.
  static Result<JsonPath> Parse(std::string_view text);

  // Checks that the path leads to something in values of `schema`. kInvalid: it does not; the
  // message begins with the part that leads nowhere.
  Status Check(const runtime::Schema& schema) const;

  // The first value found; null if there is none.
  runtime::Value First(runtime::Value root) const { return FirstFrom(root, 0); }

 private:
  friend class JsonPathParser;
  struct Step {
    enum class Kind { kMember, kIndex, kAll, kFilter };
    Kind kind = Kind::kMember;
    std::string text = {};                // kMember: the key. kFilter: what the value must be.
    long index = 0;                       // From the end if negative.
    std::vector<std::string> field = {};  // kFilter: where the value is, below an item.
    bool equal = true;                    // kFilter: == or !=.
  };
  runtime::Value FirstFrom(runtime::Value value, std::size_t step) const;
  static std::string TextOf(const Step& step);
  static bool Passes(runtime::Value item, const Step& filter);

  std::vector<Step> steps_;
};

// A value as a cell or a field selector shows it: text as it is, numbers and booleans printed,
// lists and maps as JSON, null as nothing.
std::string TextOf(runtime::Value value);

}  // namespace apiserver::inline v0::registry
