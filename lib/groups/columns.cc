#include "groups/columns.h"

#include <chrono>
#include <utility>

#include "apiserver/runtime/time.h"
#include "registry/human_duration.h"

namespace apiserver::v0::groups {
namespace {

using runtime::Value;

constexpr std::size_t kShown = 3;  // Of a ShortList.

class PrintedColumns final : public rest::TableConvertor {
 public:
  PrintedColumns(std::vector<meta::TableColumnDefinition> columns, PrintRow print,
                 const Clock& clock)
      : columns_(std::move(columns)), print_(print), clock_(clock) {}

  Result<meta::Table> ConvertToTable(const Context& /*ctx*/,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    meta::Table table;
    if (!options.no_headers) table.columns = columns_;
    table.rows.reserve(items.size());
    for (const runtime::ObjectPtr& item : items) {
      meta::TableRow row;
      row.cells.reserve(columns_.size());
      Cells cells(table, row, clock_);
      print_(*item, cells);
      row.object = item;
      table.rows.push_back(std::move(row));
    }
    return table;
  }

 private:
  const std::vector<meta::TableColumnDefinition> columns_;
  const PrintRow print_;
  const Clock& clock_;
};

}  // namespace

void ShortList::Add(std::string_view text) {
  if (count_++ < kShown) text_.append(text_.empty() ? "" : ",").append(text);
}

std::string ShortList::TextOr(std::string_view fallback) const {
  if (count_ > kShown) return text_ + " + " + std::to_string(count_ - kShown) + " more...";
  return std::string(text_.empty() ? fallback : text_);
}

Cells& Cells::Text(std::string_view text) {
  row_.cells.push_back(Value::String(table_.arena.Copy(text)));
  return *this;
}

Cells& Cells::TextOr(std::string_view text, std::string_view fallback) {
  return Text(text.empty() ? fallback : text);
}

Cells& Cells::Number(std::int64_t number) {
  row_.cells.push_back(Value::Int(number));
  return *this;
}

Cells& Cells::Age(const runtime::Object& object) { return Text(registry::AgeOf(object, clock_)); }

std::string Cells::Since(Value time) const {
  const auto parsed = runtime::ParseTime(time.AsString());
  if (!parsed.ok() || parsed->is_zero()) return "<unknown>";
  return registry::HumanDuration(clock_.WallNow() - parsed->ToSystem());
}

void Cells::Condition(std::string_view type, std::string_view reason, std::string_view message) {
  runtime::MapBuilder condition(table_.arena);
  condition.Add("type", Value::String(table_.arena.Copy(type)));
  condition.Add("status", Value::String("True"));
  condition.Add("reason", Value::String(table_.arena.Copy(reason)));
  condition.Add("message", Value::String(table_.arena.Copy(message)));
  runtime::ListBuilder conditions(table_.arena);
  conditions.Add(condition.Build());
  row_.conditions = conditions.Build();
}

std::shared_ptr<const rest::TableConvertor> NewColumns(
    std::vector<meta::TableColumnDefinition> columns, PrintRow print, const Clock& clock) {
  return std::make_shared<PrintedColumns>(std::move(columns), print, clock);
}

meta::TableColumnDefinition NameColumn() {
  return {"Name", "string", "name", "The object's name.", 0};
}

meta::TableColumnDefinition AgeColumn() {
  return {"Age", "string", "", "How long ago it was created.", 0};
}

meta::TableColumnDefinition TextColumn(std::string name, std::string description, int priority) {
  return {std::move(name), "string", "", std::move(description), priority};
}

}  // namespace apiserver::v0::groups
