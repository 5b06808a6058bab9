#include "registry/table_convertor.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "apiserver/meta/table.h"
#include "apiserver/runtime/convert.h"
#include "base/status_macros.h"
#include "registry/cells.h"
#include "registry/generic_store.h"

namespace apiserver::v0::registry {
namespace {

meta::TableColumnDefinition NameColumn() {
  return {"Name", "string", "name", std::string(kNameDescription), 0};
}

meta::TableColumnDefinition Definition(const runtime::PrinterColumn& column) {
  std::string description = column.description;
  if (description.empty()) {
    description = "Custom resource definition column (in JSONPath format): " + column.json_path;
  }
  return {column.name, column.type, column.format, std::move(description), column.priority};
}

// The moment of creation as it is, not how long ago that was.
runtime::PrinterColumn CreatedAt() {
  return {"Created At",
          "date",
          ".metadata.creationTimestamp",
          "",
          std::string(kCreationTimestampDescription),
          0};
}

// The name, and some columns of a kind's content.
class ColumnConvertor final : public rest::TableConvertor {
 public:
  ColumnConvertor(const std::vector<runtime::PrinterColumn>& columns, const Cells::Options& options)
      : clock_(options.clock), cells_(columns, options) {
    definitions_.push_back(NameColumn());
    for (const runtime::PrinterColumn& column : columns) {
      definitions_.push_back(Definition(column));
    }
  }

  Result<meta::Table> ConvertToTable(const Context& ctx,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    meta::Table table;
    if (!options.no_headers) table.columns = definitions_;
    const Clock::Wall now = clock_ != nullptr ? clock_->WallNow() : Clock::Wall();
    RETURN_IF_ERROR(cells_.AppendRows(ctx, items, now, table));
    return table;
  }

 private:
  const Clock* const clock_;
  const Cells cells_;
  std::vector<meta::TableColumnDefinition> definitions_;
};

// The items in `version`. Those that are still bytes are copied, so that a table of everything does
// not keep everything parsed.
// Table functions of hosts see objects of the hub version only.
Result<std::vector<runtime::ObjectPtr>> Copies(const Context& ctx,
                                               const std::vector<runtime::ObjectPtr>& items,
                                               std::string_view version) {
  std::vector<runtime::ObjectPtr> copies;
  copies.reserve(items.size());
  for (const runtime::ObjectPtr& item : items) {
    copies.push_back(item->loaded() ? item : runtime::ObjectPtr(item->Clone()));
  }
  return runtime::Converted(ctx, copies, version);
}

// The table that a host's function makes of `passing`, which are copies of `items`.
Result<meta::Table> ConvertCopies(const rest::TableConvertor& convertor, const Context& ctx,
                                  const std::vector<runtime::ObjectPtr>& items,
                                  const std::vector<runtime::ObjectPtr>& passing,
                                  const meta::TableOptions& options) {
  auto table = convertor.ConvertToTable(ctx, passing, options);
  if (!table.ok()) return table;
  // The items have their encodings; their copies would make more.
  for (std::size_t i = 0; i < std::min(items.size(), table->rows.size()); ++i) {
    if (table->rows[i].object == passing[i]) table->rows[i].object = items[i];
  }
  return table;
}

}  // namespace

std::shared_ptr<const rest::TableConvertor> NewDefaultTableConvertor() {
  return NewKeptTableConvertor({}, {});
}

std::shared_ptr<const rest::TableConvertor> NewColumnTableConvertor(
    // NOLINTNEXTLINE(performance-unnecessary-value-param): hosts hand it over.
    std::vector<runtime::PrinterColumn> columns, const Clock& clock) {
  return std::make_shared<ColumnConvertor>(columns, Cells::Options{.clock = &clock});
}

std::shared_ptr<const rest::TableConvertor> NewKeptTableConvertor(
    const std::vector<runtime::PrinterColumn>& columns, Cells::Options options) {
  if (!columns.empty()) return std::make_shared<ColumnConvertor>(columns, options);
  options.clock = nullptr;
  return std::make_shared<ColumnConvertor>(std::vector{CreatedAt()}, options);
}

std::map<std::string, std::shared_ptr<const rest::TableConvertor>> TablesOf(
    const runtime::Kind& kind, const StorageConfig& config) {
  // Cells count with encodings: both are made again when they are wanted.
  std::shared_ptr<EvictingShare> share;
  if (config.memory != nullptr) share = {config.memory, &config.memory->encodings};
  std::map<std::string, std::shared_ptr<const rest::TableConvertor>> tables;
  for (const runtime::KindVersion& version : kind.versions()) {
    tables.emplace(
        version.version,
        NewKeptTableConvertor(version.columns,
                              {.clock = config.clock, .share = share, .version = version.version}));
  }
  return tables;
}

Result<meta::Table> GenericStore::ConvertToTable(const Context& ctx,
                                                 const std::vector<runtime::ObjectPtr>& items,
                                                 const meta::TableOptions& options) const {
  assert(!calls_host_ || ctx.may_block());
  const std::string& version = options_.kind->hub_version();
  if (options_.table_convertor == nullptr) {
    return tables_.at(version)->ConvertToTable(ctx, items, options);
  }
  ASSIGN_OR_RETURN(const auto passing, Copies(ctx, items, version));
  return ConvertCopies(*options_.table_convertor, ctx, items, passing, options);
}

}  // namespace apiserver::v0::registry
