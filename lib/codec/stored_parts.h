#pragma once

#include <memory>
#include <string>

#include "apiserver/runtime/encoding.h"

namespace apiserver::inline v0::codec {

// Returns `body` composed of parts of `stored`, which has a good deal of it in some order, and of
// text of its own. Null: the encoding would own more than half as much as `body` has, or `body` is
// too short to gain by it.
runtime::EncodingPtr ComposedOfStored(const std::shared_ptr<const std::string>& stored,
                                      const runtime::EncodedBody& body);

}  // namespace apiserver::inline v0::codec
