#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/context.h"

namespace apiserver::inline v0::server {

// Adds a field to the access log's line of this request; does nothing if there is no line. Any
// thread. k8s.io/apiserver/pkg/server/httplog.AddKeyValue.
void AddKeyValue(const Context& ctx, std::string_view key, std::string value);

}  // namespace apiserver::inline v0::server
