#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/meta/options.h"
#include "apiserver/runtime/object.h"

// meta/v1 Table: the columns and rows that `kubectl get` prints. Built by a TableConvertor, encoded
// by response.
namespace apiserver::inline v0::meta {

// One column; the fields are those of metav1.TableColumnDefinition.
struct TableColumnDefinition {
  std::string name;
  std::string type;
  std::string format;
  std::string description;
  int priority = 0;
};

// One row, for one object.
struct TableRow {
  // JSON scalars, one per column; text lives in the Table's arena, or in one of its owners.
  std::vector<runtime::Value> cells;
  runtime::ObjectPtr object;  // Included in the row as includeObject asks.
  // The row's conditions as JSON has them, [{"type": "Completed", "status": "True", …}]; kubectl
  // hides rows by them. Null: there are none. Lives where the cells' texts do.
  runtime::Value conditions = {};
};

// A table and the memory that its cells refer to.
struct Table {
  std::vector<TableColumnDefinition> columns;
  std::vector<TableRow> rows;
  runtime::Arena arena;
  std::vector<std::shared_ptr<const void>> owners;
  // Copied from the list that the table was made from.
  std::string resource_version;
  std::string continue_token;
  std::optional<std::int64_t> remaining_item_count;
};

// The parameter includeObject: no object in a row, its metadata (the default), or all of it.
enum class IncludeObject { kNone, kMetadata, kObject };

// metav1.TableOptions.
struct TableOptions {
  bool no_headers = false;
  IncludeObject include_object = IncludeObject::kMetadata;
};
// Parses the parameter includeObject. kBadRequest: not one of its words.
Result<TableOptions> ParseTableOptions(const QueryValues& query);

}  // namespace apiserver::inline v0::meta
