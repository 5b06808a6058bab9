#pragma once  // Library-internal: other rooms include this header.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/store.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/kind.h"
#include "registry/cells.h"

namespace apiserver::inline v0::registry {

// What upstream says of the column of metadata.creationTimestamp.
inline constexpr std::string_view kCreationTimestampDescription =
    "CreationTimestamp is a timestamp representing the server time when this object was created. "
    "It is not guaranteed to be set in happens-before order across separate operations. Clients "
    "may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the "
    "system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

// Makes a NewColumnTableConvertor, or a NewDefaultTableConvertor if there are no columns, that
// caches the cells with the objects as far as there is room. An object may be given to only one
// such convertor of a version.
std::shared_ptr<const rest::TableConvertor> NewKeptTableConvertor(
    const std::vector<runtime::PrinterColumn>& columns, Cells::Options options);

// The tables of a kind's own columns, by version.
std::map<std::string, std::shared_ptr<const rest::TableConvertor>> TablesOf(
    const runtime::Kind& kind, const StorageConfig& config);

}  // namespace apiserver::inline v0::registry
