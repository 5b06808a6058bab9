#include <string>
#include <utility>
#include <vector>

#include "groups/core/strategy.h"
#include "registry/human_duration.h"

namespace apiserver::v0::groups::core {
namespace {

using runtime::Value;

// Makes the columns Name, those of the kind, and Age. Follows pkg/printers/internalversion for
// secrets and serviceaccounts.
class CoreColumns final : public rest::TableConvertor {
 public:
  using Cells = std::vector<Value> (*)(const runtime::Object& object);

  CoreColumns(std::vector<meta::TableColumnDefinition> own, Cells cells, const Clock& clock)
      : own_(std::move(own)), cells_(cells), clock_(clock) {}

  Result<meta::Table> ConvertToTable(const Context& /*ctx*/,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    meta::Table table;
    if (!options.no_headers) {
      table.columns.push_back({"Name", "string", "name", "The object's name.", 0});
      table.columns.insert(table.columns.end(), own_.begin(), own_.end());
      table.columns.push_back({"Age", "string", "", "How long ago it was created.", 0});
    }
    for (const runtime::ObjectPtr& item : items) {
      meta::TableRow row;
      // Copied, so that a Table does not depend on the objects' memory.
      row.cells.push_back(Value::String(table.arena.Copy(item->name())));
      for (const Value& cell : cells_(*item)) row.cells.push_back(Copy(cell, table.arena));
      row.cells.push_back(Value::String(table.arena.Copy(registry::AgeOf(*item, clock_))));
      row.object = item;
      table.rows.push_back(std::move(row));
    }
    return table;
  }

 private:
  const std::vector<meta::TableColumnDefinition> own_;
  const Cells cells_;
  const Clock& clock_;
};

Value SizeOf(Value of) { return Value::Int(static_cast<std::int64_t>(of.size())); }

}  // namespace

std::shared_ptr<const rest::TableConvertor> NewSecretColumns(const Clock& clock) {
  std::vector<meta::TableColumnDefinition> own{{"Type", "string", "", "What it is for.", 0},
                                               {"Data", "integer", "", "How many values.", 0}};
  const auto cells = [](const runtime::Object& secret) -> std::vector<Value> {
    return {Value::String(secret["type"].AsString()), SizeOf(secret["data"])};
  };
  return std::make_shared<CoreColumns>(std::move(own), cells, clock);
}

std::shared_ptr<const rest::TableConvertor> NewServiceAccountColumns(const Clock& clock) {
  std::vector<meta::TableColumnDefinition> own{
      {"Secrets", "integer", "", "How many Secrets its pods may mount.", 0}};
  const auto cells = [](const runtime::Object& account) -> std::vector<Value> {
    return {SizeOf(account["secrets"])};
  };
  return std::make_shared<CoreColumns>(std::move(own), cells, clock);
}

}  // namespace apiserver::v0::groups::core
