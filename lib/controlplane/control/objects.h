#pragma once

#include <memory>
#include <string_view>

#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::controlplane {

// Returns an object without a schema to be sent by a client::Client. An empty namespace: it has
// none.
std::unique_ptr<runtime::Object> NewObject(const runtime::GroupVersionKind& kind,
                                           std::string_view namespace_, std::string_view name);

}  // namespace apiserver::inline v0::controlplane
