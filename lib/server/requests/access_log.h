#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/context.h"

namespace apiserver::inline v0::server {

// Adds to the line that the access log writes of this request; nothing happens where none is
// written. Any thread. k8s.io/apiserver/pkg/server/httplog.AddKeyValue.
void AddKeyValue(const Context& ctx, std::string_view key, std::string value);

}  // namespace apiserver::inline v0::server
