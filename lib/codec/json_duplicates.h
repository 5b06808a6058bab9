#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/codec/json.h"

namespace apiserver::inline v0::codec {

// A key that a map has had before.
struct DuplicateKey {
  // Its position in the text, for comparing with keys of the parsed value.
  const char* at;
  std::string path;  // "spec.a".
};

// ParseJson that returns the duplicate keys; each path once, in the order of the text.
Result<runtime::Value> ParseJsonKeepingDuplicates(std::string_view text, runtime::Arena& arena,
                                                  std::vector<DuplicateKey>* duplicates,
                                                  const JsonLimits& limits);

}  // namespace apiserver::inline v0::codec
