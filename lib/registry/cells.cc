#include "registry/cells.h"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/encoding.h"
#include "apiserver/runtime/time.h"
#include "base/status_macros.h"
#include "registry/human_duration.h"

namespace apiserver::v0::registry {
namespace {

using runtime::Value;

// A packed row is a tag for each cell, and what belongs to it: of a text its length and bytes, of
// numbers eight bytes.
enum class Tag : char { kNull, kText, kInt, kDouble, kTrue, kFalse, kTime };

template <class Number>
// Bytes in the order of this machine: packed rows never leave the process.
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

// Appends a time as nanoseconds since 1970. What is no text shows as nothing, and the zero time is
// not known, as in metav1.Time.
void AppendTime(Value value, std::string& packed) {
  if (!value.is_string()) return Append(Tag::kNull, packed);
  const std::string_view text = value.AsString();
  if (text.empty() || text == "null") return AppendText("<unknown>", packed);
  const auto time = runtime::ParseTime(text);
  if (!time.ok()) return AppendText("<invalid>", packed);
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

Cells::Cells(const std::vector<runtime::PrinterColumn>& columns, Options options)
    : options_(std::move(options)) {
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
  if (type == "date" && options_.clock == nullptr) return AppendText(value.AsString(), packed);
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

// An object that is still bytes is parsed in a copy, which goes when its cells are made.
runtime::EncodingPtr Cells::Keep(const runtime::Object& item, const runtime::Object& seen) const {
  const std::unique_ptr<runtime::Object> passing = seen.loaded() ? nullptr : seen.Clone();
  runtime::EncodedBody body;
  body.text = Pack(passing != nullptr ? *passing : seen);
  auto packed = std::make_shared<const runtime::Encoding>(std::move(body));
  if (options_.share == nullptr) return packed;
  const std::string& version = options_.version.empty() ? item.version() : options_.version;
  return item.StoreEncoding(version, runtime::Format::kCells, std::move(packed), options_.share);
}

// Converts all that need it in one call, so that a converting webhook is asked once for a list.
Status Cells::Fill(const Context& ctx, std::span<const runtime::ObjectPtr> items,
                   std::span<runtime::EncodingPtr> kept) const {
  std::vector<runtime::ObjectPtr> others;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (kept[i] != nullptr) continue;
    if (options_.version.empty() || items[i]->version() == options_.version) {
      kept[i] = Keep(*items[i], *items[i]);
      continue;
    }
    others.push_back(items[i]);
    places.push_back(i);
  }
  if (others.empty()) return {};
  const auto keep = [&](std::size_t at, const runtime::Object& seen) {
    kept[places[at]] = Keep(*others[at], seen);
  };
  return runtime::VisitConverted(ctx, others, options_.version, keep);
}

// Rows borrow their texts from the packed encodings, which `owners` keeps alive.
Status Cells::AppendRows(const Context& ctx, std::span<const runtime::ObjectPtr> items,
                         Clock::Wall now, meta::Table& table) const {
  if (items.empty()) return {};
  const std::string& version =
      options_.version.empty() ? items.front()->version() : options_.version;
  auto kept = runtime::Object::FindEncodings(items, version, runtime::Format::kCells);
  RETURN_IF_ERROR(Fill(ctx, items, kept));
  table.rows.reserve(table.rows.size() + items.size());
  table.owners.reserve(table.owners.size() + items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::string_view packed = kept[i]->pieces().back();
    meta::TableRow& row = table.rows.emplace_back();
    row.object = items[i];
    row.cells.reserve(columns_.size() + 1);
    while (!packed.empty()) row.cells.push_back(TakeCell(packed, now, table));
    table.owners.push_back(std::move(kept[i]));
  }
  return {};
}

}  // namespace apiserver::v0::registry
