#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/codec/json.h"
#include "apiserver/runtime/value.h"

// YAML as sigs.k8s.io/yaml reads and writes it: libyaml's events, YAML 1.1 scalars, converted to
// the data model of JSON.
namespace apiserver::inline v0::codec {

// Parses one document. Everything in the result lives in `arena`. Aliases are expanded under a
// budget, so that an alias bomb is refused (kBadRequest). Non-string keys become strings.
// `duplicates` and `limits` as in ParseJson().
Result<runtime::Value> ParseYaml(std::string_view text, runtime::Arena& arena,
                                 std::vector<std::string>* duplicates = nullptr,
                                 const JsonLimits& limits = {});
// Appends block style, two-space indent, keys sorted, with a newline at the end, as
// sigs.k8s.io/yaml prints it.
void AppendYaml(runtime::Value value, std::string& out);
// Splits a stream into the documents between its "---" lines; empty ones are dropped.
std::vector<std::string_view> SplitYamlDocuments(std::string_view text);

}  // namespace apiserver::inline v0::codec
