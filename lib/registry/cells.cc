#include "registry/cells.h"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#include "apiserver/runtime/encoding.h"
#include "apiserver/runtime/time.h"
#include "registry/human_duration.h"

namespace apiserver::v0::registry {
namespace {

using runtime::Value;

// A packed row is a tag for each cell, and what belongs to it: of a text its length and bytes, of
// numbers eight bytes.
enum class Tag : char { kNull, kText, kInt, kDouble, kTrue, kFalse, kTime };

template <class Number>
void Append(Number number, std::string& packed) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  packed.append(bytes, sizeof number);
}

template <class Number>
Number Take(std::string_view& packed) {
  Number number;
  std::memcpy(&number, packed.data(), sizeof number);
  packed.remove_prefix(sizeof number);
  return number;
}

void Append(Tag tag, std::string& packed) { packed += static_cast<char>(tag); }

void AppendText(std::string_view text, std::string& packed) {
  Append(Tag::kText, packed);
  Append(static_cast<std::uint32_t>(text.size()), packed);
  packed += text;
}

// As nanoseconds since 1970.
void AppendTime(Value value, std::string& packed) {
  const auto time = runtime::ParseTime(value.AsString());
  if (!value.is_string() || !time.ok()) return AppendText("<invalid>", packed);
  Append(Tag::kTime, packed);
  const auto since =
      std::chrono::duration_cast<std::chrono::nanoseconds>(time->ToSystem().time_since_epoch());
  Append(static_cast<std::int64_t>(since.count()), packed);
}

Value TakeCell(std::string_view& packed, Clock::Wall now, meta::Table& table) {
  const Tag tag = static_cast<Tag>(packed.front());
  packed.remove_prefix(1);
  switch (tag) {
    case Tag::kNull:
      return {};
    case Tag::kTrue:
      return Value::Bool(true);
    case Tag::kFalse:
      return Value::Bool(false);
    case Tag::kInt:
      return Value::Int(Take<std::int64_t>(packed));
    case Tag::kDouble:
      return Value::Double(Take<double>(packed));
    case Tag::kTime: {
      const std::chrono::nanoseconds since(Take<std::int64_t>(packed));
      const Clock::Wall then(std::chrono::duration_cast<Clock::Wall::duration>(since));
      return Value::String(table.arena.Copy(HumanDuration(now - then)));
    }
    case Tag::kText:
      break;
  }
  const auto size = Take<std::uint32_t>(packed);
  const std::string_view text = packed.substr(0, size);
  packed.remove_prefix(size);
  return Value::String(text);
}

}  // namespace

Cells::Cells(const std::vector<runtime::PrinterColumn>& columns, const Clock* clock,
             std::shared_ptr<EvictingShare> share)
    : ages_(clock != nullptr), share_(std::move(share)) {
  for (const runtime::PrinterColumn& column : columns) {
    auto path = JsonPath::Parse(column.json_path);
    Column parsed{column.type, {}, path.ok()};
    if (path.ok()) parsed.path = std::move(*path);
    columns_.push_back(std::move(parsed));
  }
}

// A value that does not fit its column's type shows as nothing.
void Cells::PackCell(const Column& column, const runtime::Object& item, std::string& packed) const {
  const Value value = column.valid ? column.path.First(item.root()) : Value();
  const std::string& type = column.type;
  if (type == "date" && !ages_) return AppendText(value.AsString(), packed);
  if (value.is_null()) return Append(Tag::kNull, packed);
  if (type == "date") return AppendTime(value, packed);
  if (type == "string") return AppendText(TextOf(value), packed);
  if (type == "integer" && value.is_number()) {
    Append(Tag::kInt, packed);
    return Append(value.AsInt(static_cast<std::int64_t>(value.AsDouble())), packed);
  }
  if (type == "number" && value.type() == Value::Type::kInt) {
    Append(Tag::kInt, packed);
    return Append(value.AsInt(), packed);
  }
  if (type == "number" && value.type() == Value::Type::kDouble) {
    Append(Tag::kDouble, packed);
    return Append(value.AsDouble(), packed);
  }
  if (type == "boolean" && value.type() == Value::Type::kBool) {
    return Append(value.AsBool() ? Tag::kTrue : Tag::kFalse, packed);
  }
  Append(Tag::kNull, packed);
}

std::string Cells::Pack(const runtime::Object& item) const {
  std::string packed;
  AppendText(item.name(), packed);
  for (const Column& column : columns_) PackCell(column, item, packed);
  return packed;
}

// Packs the cells of an object, and keeps them as far as there is room.
runtime::EncodingPtr Cells::Keep(const runtime::Object& item) const {
  const std::unique_ptr<runtime::Object> passing = item.loaded() ? nullptr : item.Clone();
  runtime::EncodedBody body;
  body.text = Pack(passing != nullptr ? *passing : item);
  auto packed = std::make_shared<const runtime::Encoding>(std::move(body));
  if (share_ == nullptr) return packed;
  return item.StoreEncoding(item.version(), runtime::Format::kCells, std::move(packed), share_);
}

void Cells::AppendRows(std::span<const runtime::ObjectPtr> items, Clock::Wall now,
                       meta::Table& table) const {
  if (items.empty()) return;
  // Objects of other versions, if there are any, are looked for once more when theirs are stored.
  auto kept =
      runtime::Object::FindEncodings(items, items.front()->version(), runtime::Format::kCells);
  table.rows.reserve(table.rows.size() + items.size());
  table.owners.reserve(table.owners.size() + items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (kept[i] == nullptr) kept[i] = Keep(*items[i]);
    std::string_view packed = kept[i]->pieces().back();
    meta::TableRow& row = table.rows.emplace_back();
    row.object = items[i];
    row.cells.reserve(columns_.size() + 1);
    while (!packed.empty()) row.cells.push_back(TakeCell(packed, now, table));
    table.owners.push_back(std::move(kept[i]));
  }
}

}  // namespace apiserver::v0::registry
