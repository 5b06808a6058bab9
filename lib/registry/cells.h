#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/meta/table.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "registry/json_path.h"

namespace apiserver::inline v0::registry {

// The cells of an object's row: its name, and what its columns show. They are read off the object
// once and kept with it (runtime::Format::kCells), but for ages, which change. Immutable; any
// thread.
class Cells {
 public:
  // `share`: where kept cells count; null: none are kept. A null `clock`: dates are shown as they
  // are.
  Cells(const std::vector<runtime::PrinterColumn>& columns, const Clock* clock,
        std::shared_ptr<EvictingShare> share);

  // Appends the rows of `items`, which are not parsed for good.
  void AppendRows(std::span<const runtime::ObjectPtr> items, Clock::Wall now,
                  meta::Table& table) const;

 private:
  struct Column {
    std::string type;
    JsonPath path;
    bool valid = true;  // Of a column that cannot be read every cell is null.
  };

  runtime::EncodingPtr Keep(const runtime::Object& item) const;
  std::string Pack(const runtime::Object& item) const;
  void PackCell(const Column& column, const runtime::Object& item, std::string& packed) const;

  std::vector<Column> columns_;
  const bool ages_;
  const std::shared_ptr<EvictingShare> share_;
};

}  // namespace apiserver::inline v0::registry
