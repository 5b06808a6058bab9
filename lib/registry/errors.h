#pragma once

#include <cstdint>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/names.h"

// Storage's words become API errors: k8s.io/apiserver/pkg/storage/errors.Interpret*Error.
namespace apiserver::inline v0::registry {

enum class Verb : std::uint8_t { kGet, kList, kWatch, kCreate, kUpdate, kDelete };

// What is an API error already (from strategies, admission, bad options) stays as it is.
Status InterpretError(const Status& error, Verb verb, const runtime::GroupResource& resource,
                      std::string_view name);

}  // namespace apiserver::inline v0::registry
