#include <cassert>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/meta/table.h"
#include "apiserver/runtime/time.h"
#include "registry/generic_store.h"
#include "registry/human_duration.h"
#include "registry/json_path.h"

namespace apiserver::inline v0::registry {
namespace {

constexpr std::string_view kNameDescription =
    "Name must be unique within a namespace. Is required when creating resources, although some "
    "resources may allow a client to request the generation of an appropriate name automatically. "
    "Name is primarily intended for creation idempotence and configuration definition. Cannot be "
    "updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
constexpr std::string_view kCreationTimestampDescription =
    "CreationTimestamp is a timestamp representing the server time when this object was created. "
    "It is not guaranteed to be set in happens-before order across separate operations. Clients "
    "may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the "
    "system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

runtime::Value Text(meta::Table& table, std::string_view text) {
  return runtime::Value::String(table.arena.Copy(text));
}

meta::TableColumnDefinition NameColumn() {
  return {"Name", "string", "name", std::string(kNameDescription), 0};
}

meta::TableRow NewRow(meta::Table& table, const runtime::ObjectPtr& item) {
  meta::TableRow row;
  row.cells.push_back(Text(table, item->name()));
  row.object = item;
  return row;
}

class DefaultConvertor final : public rest::TableConvertor {
 public:
  Result<meta::Table> ConvertToTable(const Context&, const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    meta::Table table;
    if (!options.no_headers) {
      table.columns = {NameColumn(),
                       {"Created At", "date", "", std::string(kCreationTimestampDescription), 0}};
    }
    for (const runtime::ObjectPtr& item : items) {
      meta::TableRow row = NewRow(table, item);
      row.cells.push_back(Text(table, item->metadata()["creationTimestamp"].AsString()));
      table.rows.push_back(std::move(row));
    }
    return table;
  }
};

class ColumnConvertor final : public rest::TableConvertor {
 public:
  ColumnConvertor(std::vector<runtime::PrinterColumn> columns, const Clock& clock) : clock_(clock) {
    for (runtime::PrinterColumn& column : columns) {
      auto path = JsonPath::Parse(column.json_path);
      Column parsed{std::move(column), {}, path.ok()};
      if (path.ok()) parsed.path = std::move(*path);
      columns_.push_back(std::move(parsed));
    }
  }

  Result<meta::Table> ConvertToTable(const Context&, const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    meta::Table table;
    if (!options.no_headers) {
      table.columns.push_back(NameColumn());
      for (const Column& column : columns_) table.columns.push_back(Definition(column.column));
    }
    for (const runtime::ObjectPtr& item : items) {
      meta::TableRow row = NewRow(table, item);
      for (const Column& column : columns_) row.cells.push_back(CellOf(table, column, *item));
      table.rows.push_back(std::move(row));
    }
    return table;
  }

 private:
  struct Column {
    runtime::PrinterColumn column;
    JsonPath path;
    bool valid;  // Of a column that cannot be read every cell is null.
  };

  static meta::TableColumnDefinition Definition(const runtime::PrinterColumn& column) {
    std::string description = column.description;
    if (description.empty()) {
      description = "Custom resource definition column (in JSONPath format): " + column.json_path;
    }
    return {column.name, column.type, column.format, std::move(description), column.priority};
  }

  runtime::Value AgeOf(meta::Table& table, runtime::Value value) const {
    if (!value.is_string()) return Text(table, "<invalid>");
    const auto time = runtime::ParseTime(value.AsString());
    if (!time.ok()) return Text(table, "<invalid>");
    return Text(table, HumanDuration(clock_.WallNow() - time->ToSystem()));
  }

  // A value that does not fit its column's type shows as nothing.
  runtime::Value CellOf(meta::Table& table, const Column& column,
                        const runtime::Object& item) const {
    const runtime::Value value = column.valid ? column.path.First(item.root()) : runtime::Value();
    if (value.is_null()) return {};
    const std::string& type = column.column.type;
    if (type == "string") return Text(table, TextOf(value));
    if (type == "date") return AgeOf(table, value);
    if (type == "integer" && value.is_number()) {
      return runtime::Value::Int(value.AsInt(static_cast<std::int64_t>(value.AsDouble())));
    }
    if (type == "number" && value.is_number()) return value;
    if (type == "boolean" && value.type() == runtime::Value::Type::kBool) return value;
    return {};
  }

  std::vector<Column> columns_;
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<const rest::TableConvertor> NewDefaultTableConvertor() {
  return std::make_shared<DefaultConvertor>();
}

std::shared_ptr<const rest::TableConvertor> NewColumnTableConvertor(
    std::vector<runtime::PrinterColumn> columns, const Clock& clock) {
  return std::make_shared<ColumnConvertor>(std::move(columns), clock);
}

Result<meta::Table> GenericStore::ConvertToTable(const Context& ctx,
                                                 const std::vector<runtime::ObjectPtr>& items,
                                                 const meta::TableOptions& options) const {
  assert(!calls_host_ || ctx.may_block());
  if (options_.table_convertor != nullptr) {
    return options_.table_convertor->ConvertToTable(ctx, items, options);
  }
  const std::string& version =
      items.empty() ? options_.kind->hub_version() : items.front()->version();
  const runtime::KindVersion* shape = options_.kind->FindVersion(version);
  if (shape == nullptr || shape->columns.empty()) {
    return DefaultConvertor().ConvertToTable(ctx, items, options);
  }
  return ColumnConvertor(shape->columns, *config_.clock).ConvertToTable(ctx, items, options);
}

}  // namespace apiserver::inline v0::registry
