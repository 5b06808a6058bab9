#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/codec/json.h"
#include "apiserver/runtime/value.h"

// YAML as sigs.k8s.io/yaml reads and writes it: libyaml's events, YAML 1.1 scalars, converted to
// what JSON can say.
namespace apiserver::inline v0::codec {

// One document. Everything in the result lives in `arena`. Aliases are expanded under a budget, so
// that a bomb is refused (kBadRequest). Non-string keys become strings.
Result<runtime::Value> ParseYaml(std::string_view text, runtime::Arena& arena,
                                 std::vector<std::string>* duplicates = nullptr,
                                 const JsonLimits& limits = {});
// Block style, two-space indent, keys sorted, ends with a newline: what sigs.k8s.io/yaml prints.
void AppendYaml(runtime::Value value, std::string& out);
// The documents of a stream separated by "---" lines; empty ones are dropped.
std::vector<std::string_view> SplitYamlDocuments(std::string_view text);

}  // namespace apiserver::inline v0::codec
