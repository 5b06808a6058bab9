#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/registry/store.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/kind.h"
#include "registry/cells.h"

namespace apiserver::inline v0::registry {

// Makes a NewColumnTableConvertor, or a NewDefaultTableConvertor if there are no columns, that
// caches the cells with the objects as far as there is room. An object may be given to only one
// such convertor of a version.
std::shared_ptr<const rest::TableConvertor> NewKeptTableConvertor(
    const std::vector<runtime::PrinterColumn>& columns, Cells::Options options);

// The tables of a kind's own columns, by version.
std::map<std::string, std::shared_ptr<const rest::TableConvertor>> TablesOf(
    const runtime::Kind& kind, const StorageConfig& config);

}  // namespace apiserver::inline v0::registry
