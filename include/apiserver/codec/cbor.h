#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/value.h"

// CBOR (RFC 8949) as Kubernetes reads and writes it: k8s.io/apimachinery's serializer/cbor.
namespace apiserver::inline v0::codec {

// The prefix of every whole message: tag 55799, "self-described CBOR".
inline constexpr std::string_view kSelfDescribedCbor = "\xd9\xd9\xf7";

// Limits of the input; bytes over a limit are refused with kBadRequest.
struct CborLimits {
  std::size_t depth_max = 10'000;  // Lists, maps and tags together.
  std::size_t bytes_max = 64 << 20;
};

// Parses one data item, and nothing after it. Texts are borrowed: pin the owner of `bytes` in the
// arena, or let it outlive the result. Byte strings read as text, since that is how Kubernetes
// writes text; byte strings below an "expected later encoding" tag (21, 22, 23) read as text in
// that encoding, times (tags 0 and 1) as RFC 3339, other tags as their content.
//
// kBadRequest, in the words of the library that Kubernetes uses: malformed, a repeated key, a key
// that is no string, an integer beyond int64, a bignum, NaN, infinity, a simple value other than
// true, false and null.
Result<runtime::Value> ParseCbor(std::string_view bytes, runtime::Arena& arena,
                                 const CborLimits& limits = {});

// Appends the item in its deterministic form (RFC 8949, 4.2.1), without kSelfDescribedCbor: text as
// byte strings, bytes below tag 22, keys sorted, floats in the shortest form that keeps them.
void AppendCbor(runtime::Value value, std::string& out);

// The same for the text of a JSON document, which must be valid.
std::string CborOfJson(std::string_view json);

}  // namespace apiserver::inline v0::codec
