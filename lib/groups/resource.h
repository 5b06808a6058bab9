#pragma once

#include <memory>
#include <utility>

#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/server/install.h"

namespace apiserver::inline v0::groups {

// Returns the resource of a built-in kind: validated by its strategy alone, as in Go, and read on a
// loop, since neither its columns nor its functions block. Null columns: those of the kind.
inline server::Resource ResourceOf(runtime::KindPtr kind,
                                   std::shared_ptr<const rest::Strategy> strategy,
                                   std::shared_ptr<const rest::TableConvertor> columns) {
  server::Resource resource{.kind = std::move(kind), .strategy = std::move(strategy)};
  resource.configure = [columns = std::move(columns)](registry::StoreOptions& options) {
    options.table_convertor = columns;
    options.functions_inline = true;
    options.validate_schema = false;
  };
  return resource;
}

}  // namespace apiserver::inline v0::groups
