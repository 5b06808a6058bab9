#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/meta/table.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/value.h"

// The columns of built-in kinds: k8s.io/kubernetes/pkg/printers/internalversion.
namespace apiserver::inline v0::groups {

// The cells of one row, in the order of the columns. Texts are copied into the Table, which so does
// not depend on the objects' memory.
class Cells {
 public:
  Cells(meta::Table& table, meta::TableRow& row, const Clock& clock)
      : table_(table), row_(row), clock_(clock) {}

  Cells& Text(std::string_view text);
  // The text, or `fallback` if it is empty.
  Cells& TextOr(std::string_view text, std::string_view fallback);
  Cells& Number(std::int64_t number);
  // The time since metadata.creationTimestamp.
  Cells& Age(const runtime::Object& object);
  // Returns the time since a meta/v1 Time or MicroTime: "5m", or "<unknown>" if there is none.
  std::string Since(runtime::Value time) const;
  // Adds a row condition: what kubectl hides some rows by.
  void Condition(std::string_view type, std::string_view reason, std::string_view message);

 private:
  meta::Table& table_;
  meta::TableRow& row_;
  const Clock& clock_;
};

// The first three of some texts, and how many more there are: "a,b,c + 2 more...".
class ShortList {
 public:
  void Add(std::string_view text);
  // The list, or `fallback` if its text is empty.
  std::string TextOr(std::string_view fallback) const;

 private:
  std::string text_;
  std::size_t count_ = 0;
};

// Writes the cells of an object. Must not block.
using PrintRow = void (*)(const runtime::Object& object, Cells& cells);

// Makes a convertor with these columns. `clock` must outlive it.
std::shared_ptr<const rest::TableConvertor> NewColumns(
    std::vector<meta::TableColumnDefinition> columns, PrintRow print, const Clock& clock);

// Return columns that most kinds have.
meta::TableColumnDefinition NameColumn();
meta::TableColumnDefinition AgeColumn();
// A column of text; `priority` 1: only in the wide view.
meta::TableColumnDefinition TextColumn(std::string name, std::string description, int priority = 0);

}  // namespace apiserver::inline v0::groups
