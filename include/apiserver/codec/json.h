#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/value.h"

// Reads JSON text into Values and writes it. RapidJSON behind checks of our own; iterative.
namespace apiserver::inline v0::codec {

// Limits of the input; text over a limit is refused with kBadRequest.
struct JsonLimits {
  std::size_t depth_max = 10'000;
  std::size_t bytes_max = 64 << 20;
  // The arena may grow to this many times the text plus 64 KiB.
  std::size_t arena_factor_max = 16;
};

// Returns the most memory that a body of `bytes` takes once decoded, in any format.
constexpr std::size_t DecodedBytesMax(std::size_t bytes) {
  return JsonLimits().arena_factor_max * bytes + (std::size_t{64} << 10);
}

// Parses JSON. The result borrows from `text`: pin its owner in the arena, or let it outlive the
// result. Duplicate keys: the last wins, and each is reported once to `duplicates`, if not null, as
// its path ("spec.a"). Invalid UTF-8 is replaced as Go does (U+FFFD). Numbers without fraction or
// exponent that fit are int64, others double. kBadRequest: not JSON, in Go's words where clients
// see them ("invalid character 'x' looking for beginning of value", "unexpected end of JSON
// input").
Result<runtime::Value> ParseJson(std::string_view text, runtime::Arena& arena,
                                 std::vector<std::string>* duplicates = nullptr,
                                 const JsonLimits& limits = {});

// Appends compact JSON as Go's encoding/json writes it: HTML-escaped (<, >, & and U+2028/9), floats
// as Go prints them, bytes as base64, raw text compacted. Members in their order.
void AppendJson(runtime::Value value, std::string& out);
// Appends JSON with two-space indent and no trailing newline.
void AppendPrettyJson(runtime::Value value, std::string& out);
// Appends a quoted and escaped JSON string.
void AppendJsonString(std::string_view text, std::string& out);
// Re-indents compact JSON, as Go's json.Indent(prefix "", indent "  ").
std::string IndentJson(std::string_view compact);

// Does what IndentJson() does with JSON that comes in pieces, cut anywhere.
class JsonIndenter {
 public:
  // Appends the next piece, indented.
  void Append(std::string_view compact, std::string& out);

 private:
  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;      // The last character was a backslash in a string.
  bool just_opened_ = false;  // The last character opened an object or an array.
};

}  // namespace apiserver::inline v0::codec
