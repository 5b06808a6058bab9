#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
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
  struct Options {
    const Clock* clock = nullptr;                    // Null: dates are shown as they are.
    std::shared_ptr<EvictingShare> share = nullptr;  // Counts kept cells; null: none are kept.
    std::string version = "";  // The version that the columns look at; empty: the items' own.
  };
  Cells(const std::vector<runtime::PrinterColumn>& columns, Options options);

  // Appends the rows of `items`, which are not parsed for good. Errors as runtime::Convert, of
  // items whose cells are not kept.
  Status AppendRows(const Context& ctx, std::span<const runtime::ObjectPtr> items, Clock::Wall now,
                    meta::Table& table) const;

 private:
  struct Column {
    std::string type;
    JsonPath path;
    bool valid = true;  // False: the column cannot be read; its cells are null.
  };

  // Packs the cells of `seen`, which is `item` as the columns look at it.
  runtime::EncodingPtr Keep(const runtime::Object& item, const runtime::Object& seen) const;
  Status Fill(const Context& ctx, std::span<const runtime::ObjectPtr> items,
              std::span<runtime::EncodingPtr> kept) const;
  std::string Pack(const runtime::Object& item) const;
  void PackCell(const Column& column, const runtime::Object& item, std::string& packed) const;

  std::vector<Column> columns_;
  const Options options_;
};

}  // namespace apiserver::inline v0::registry
