#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/value.h"

// JSON patch, RFC 6902, as github.com/evanphx/json-patch v4 applies it for kube-apiserver.
namespace apiserver::inline v0::patch {

// Limits of one patch.
struct JsonPatchLimits {
  // More operations are refused with kRequestEntityTooLarge.
  std::size_t operations_max = 10'000;
  // The most JSON bytes that "copy" operations may add up to; beyond that the patch fails.
  std::size_t copy_bytes_max = 3 << 20;
};

// Returns the unknown and duplicate fields of the operations, as strict decoding reports them:
// `json patch unknown field "[0].foo"`. Empty if `patch` is malformed.
std::vector<std::string> JsonPatchStrictErrors(std::string_view patch);

// Returns the patched document. It lives in `arena` and shares what it can with `document` and
// `patch`, which must outlive it. Maps that an operation looked into have their members sorted by
// key, as encoding/json leaves them; raw JSON and bytes are treated as the values they stand for.
// Negative indexes count from the end; removing an absent member is an error.
//
// kBadRequest: `patch` is no JSON array of operations. kRequestEntityTooLarge: too many operations.
// kInvalid (422): an operation does not apply, a test fails, too much is copied; the message says
// no more than a Go server's: "the server rejected our request due to an error in our request".
Result<runtime::Value> ApplyJsonPatch(runtime::Value document, std::string_view patch,
                                      runtime::Arena& arena, const JsonPatchLimits& limits = {});
// The same, for callers that may be told more: the message of kInvalid names the operation, the
// path and the reason, in json-patch's words: `error in remove for path: '/a': Unable to remove
// nonexistent key: a: …`.
Result<runtime::Value> ApplyJsonPatchExplained(runtime::Value document, std::string_view patch,
                                               runtime::Arena& arena,
                                               const JsonPatchLimits& limits = {});

}  // namespace apiserver::inline v0::patch
