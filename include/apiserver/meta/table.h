#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/meta/options.h"
#include "apiserver/runtime/object.h"

// meta/v1 Table: what `kubectl get` prints. Built by a TableConvertor, encoded by response.
namespace apiserver::inline v0::meta {

struct TableColumnDefinition {
  std::string name;
  std::string type;
  std::string format;
  std::string description;
  int priority = 0;
};

struct TableRow {
  // JSON scalars, one per column; text lives in the Table's arena, or in one of its owners.
  std::vector<runtime::Value> cells;
  runtime::ObjectPtr object;  // Written as asked for by includeObject.
};

struct Table {
  std::vector<TableColumnDefinition> columns;
  std::vector<TableRow> rows;
  runtime::Arena arena;
  std::vector<std::shared_ptr<const void>> owners;
  // Of the list it was made from.
  std::string resource_version;
  std::string continue_token;
  std::optional<std::int64_t> remaining_item_count;
};

enum class IncludeObject { kNone, kMetadata, kObject };

struct TableOptions {
  bool no_headers = false;
  IncludeObject include_object = IncludeObject::kMetadata;
};
// The parameter includeObject. kBadRequest: not one of its words.
Result<TableOptions> ParseTableOptions(const QueryValues& query);

}  // namespace apiserver::inline v0::meta
