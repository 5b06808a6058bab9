#pragma once  // Library-internal: other rooms include this header.

#include <cstdint>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/meta/options.h"
#include "apiserver/runtime/object.h"

// Storage errors in the words of k8s.io/apiserver/pkg/storage.StorageError. Conflicts carry them to
// clients, so the texts matter.
namespace apiserver::inline v0::storage {

Status NewKeyNotFound(std::string_view key);
Status NewKeyExists(std::string_view key);
// Returns the error for a precondition that does not hold.
Status NewInvalidObject(std::string_view key, std::string_view message);
// The message is "request did not complete within requested timeout" and siblings.
Status NewStorageTimeout(std::string_view key, std::string_view message);
// True if `status` is one of the above. All other errors of storage (of try_update, bad options)
// are API errors already.
bool IsStorageError(const Status& status);

// Returns OK when `object` is what the caller expects; null counts as an object without uid and
// version.
Status CheckPreconditions(std::string_view key, const meta::Preconditions& preconditions,
                          const runtime::Object* object);

// Parses the resourceVersion that a client sent. kBadRequest in Go's words.
Result<std::int64_t> ParseReadVersion(std::string_view text);
// Returns kTimeout (ResourceVersionTooLarge) when `wanted` is newer than `actual`.
Status CheckNotOlderThan(std::string_view wanted, std::int64_t actual);

inline constexpr std::string_view kListExpired =
    "The resourceVersion for the provided list is too old.";
inline constexpr std::string_view kWatchExpired =
    "The resourceVersion for the provided watch is too old.";
inline constexpr std::string_view kInconsistentContinue =
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first "
    "chunk was returned and now may show up in the list.";

}  // namespace apiserver::inline v0::storage
