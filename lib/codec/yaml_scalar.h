#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/runtime/value.h"

// YAML 1.1 scalars as gopkg.in/yaml.v2 (and its fork in sigs.k8s.io/yaml) resolves them.
namespace apiserver::inline v0::codec {

// The meaning of a plain scalar.
struct YamlScalar {
  enum class Kind { kNull, kBool, kInt, kUint, kFloat, kTimestamp, kMerge, kString };
  Kind kind = Kind::kString;
  // Set for kBool, kInt, kFloat, and for kUint as the nearest double. Text is `text` itself.
  runtime::Value value;
};
YamlScalar ResolveYamlScalar(std::string_view text);

// True if older parsers would read the text as a number to base 60: "1:30".
bool IsBase60Number(std::string_view text);

// Go's strconv.FormatFloat(number, 'g', -1, bits) with YAML's words for what is not finite.
std::string FormatYamlFloat(double number, int bits = 64);

// The order in which yaml.v2 writes keys: letters after everything else, numbers by their value.
bool YamlKeyLess(std::string_view a, std::string_view b);

}  // namespace apiserver::inline v0::codec
