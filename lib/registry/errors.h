#pragma once

#include <cstdint>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/names.h"

// Storage's words become API errors: k8s.io/apiserver/pkg/storage/errors.Interpret*Error.
namespace apiserver::inline v0::registry {

enum class Verb : std::uint8_t { kGet, kList, kWatch, kCreate, kUpdate, kDelete };

// Converts an error of storage into the API error of `verb`. Returns errors that are API errors
// already (from strategies, admission, bad options) unchanged.
Status InterpretError(const Status& error, Verb verb, const runtime::GroupResource& resource,
                      std::string_view name);

}  // namespace apiserver::inline v0::registry
