#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/value.h"

// JSON text to Values and back. RapidJSON behind checks of our own; iterative.
namespace apiserver::inline v0::codec {

// What is accepted; over a limit the text is refused with kBadRequest.
struct JsonLimits {
  std::size_t depth_max = 10'000;
  std::size_t bytes_max = 64 << 20;
  // The arena may grow to this many times the text plus 64 KiB.
  std::size_t arena_factor_max = 16;
};

// The most memory that a body of `bytes` becomes when it is decoded, in any format.
constexpr std::size_t DecodedBytesMax(std::size_t bytes) {
  return JsonLimits().arena_factor_max * bytes + (std::size_t{64} << 10);
}

// `text` is borrowed by the result: pin its owner in the arena, or let it outlive it. Duplicate
// keys: the last wins, and each is reported once to `duplicates` as its path ("spec.a"), if not
// null. Invalid UTF-8 is replaced as Go does (U+FFFD). Numbers without fraction or exponent that
// fit are int64, others double. kBadRequest: not JSON, in Go's words where clients see them
// ("invalid character 'x' looking for beginning of value", "unexpected end of JSON input").
Result<runtime::Value> ParseJson(std::string_view text, runtime::Arena& arena,
                                 std::vector<std::string>* duplicates = nullptr,
                                 const JsonLimits& limits = {});

// Appends compact JSON as Go's encoding/json writes it: HTML-escaped (<, >, & and U+2028/9), floats
// as Go prints them, bytes as base64, raw text compacted. Members in their order.
void AppendJson(runtime::Value value, std::string& out);
// Two-space indent, no trailing newline.
void AppendPrettyJson(runtime::Value value, std::string& out);
// A quoted and escaped JSON string.
void AppendJsonString(std::string_view text, std::string& out);
// Re-indents compact JSON, as Go's json.Indent(prefix "", indent "  ").
std::string IndentJson(std::string_view compact);

}  // namespace apiserver::inline v0::codec
