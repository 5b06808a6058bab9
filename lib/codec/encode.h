#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::codec {

// Returns `object` in `version` and canonical form. Shares the content of `object`, which must
// outlive it. kBadRequest: no such version; kInternalError: it cannot be converted or does not fit
// its schema.
Result<std::unique_ptr<runtime::Object>> CanonicalView(const Context& ctx,
                                                       const runtime::Object& object,
                                                       std::string_view version);
// The JSON body of a canonical object. `before` is put before it, and does not count in its marks.
// `bytes`: room that is made at once; it may take more.
runtime::EncodedBody EncodeJsonBody(const runtime::Object& object, std::string_view before = {},
                                    std::size_t bytes = 0);
// Returns `body` of `object` in JSON as its stored bytes with the revision spliced in. Null: they
// differ in more than that.
runtime::EncodingPtr SharedWithStorage(const runtime::Object& object, std::string_view version,
                                       const runtime::EncodedBody& body);
// True if a member of ObjectMeta stands before resourceVersion; `sorted`: in a structural kind.
bool BeforeResourceVersion(std::string_view key, bool sorted);

}  // namespace apiserver::inline v0::codec
