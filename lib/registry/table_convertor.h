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

// Upstream's descriptions of the columns of metadata.name and metadata.creationTimestamp.
inline constexpr std::string_view kNameDescription =
    "Name must be unique within a namespace. Is required when creating resources, although some "
    "resources may allow a client to request the generation of an appropriate name automatically. "
    "Name is primarily intended for creation idempotence and configuration definition. Cannot be "
    "updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
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
