#include "patch/apply/created_fields.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Value;

constexpr std::size_t kFormBytesMax = std::size_t{4} << 10;
// Limits all that one FieldManager remembers, which is of one resource: few forms are in use at a
// time.
constexpr std::size_t kBytesMax = std::size_t{16} << 10;
constexpr std::size_t kEntriesMax = 8;

template <class T>
void AppendBytesOf(T number, std::string& form) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &number, sizeof(T));
  form.append(bytes, sizeof(T));
}

void AppendText(std::string_view text, std::string& form) {
  AppendBytesOf(static_cast<std::uint32_t>(text.size()), form);
  form.append(text);
}

void AppendScalar(const Value& value, std::string& form) {
  switch (value.type()) {
    case Value::Type::kBool:
      return AppendBytesOf(value.AsBool(), form);
    case Value::Type::kInt:
      return AppendBytesOf(value.AsInt(), form);
    case Value::Type::kDouble:
      return AppendBytesOf(value.AsDouble(), form);
    default:
      return AppendText(value.AsString(), form);
  }
}

}  // namespace

// Numbers of members and of items make it unambiguous.
std::string CreatedFields::FormOf(const Value& content) {
  struct Part {
    const Value* value;
    bool in_list;
  };
  std::vector<Part> pending = {{&content, false}};
  std::string form;
  while (!pending.empty()) {
    const auto [value, in_list] = pending.back();
    pending.pop_back();
    form += static_cast<char>(value->type());
    // Raw text may hold anything, members too.
    const bool raw = value->type() == Value::Type::kRaw;
    const bool counts = value->is_map() || value->is_list() || in_list || raw;
    // Before room is made for much: a part takes a byte at least.
    if (counts && form.size() + pending.size() + value->size() > kFormBytesMax) return {};
    if (value->is_map()) {
      AppendBytesOf(static_cast<std::uint32_t>(value->size()), form);
      for (const runtime::Member& member : value->members()) {
        AppendText(member.key, form);
        if (form.size() > kFormBytesMax) return {};
        pending.push_back({&member.value, in_list});
      }
    } else if (value->is_list()) {
      AppendBytesOf(static_cast<std::uint32_t>(value->size()), form);
      for (const Value& item : value->items()) pending.push_back({&item, true});
    } else if (in_list || raw) {
      AppendScalar(*value, form);
    }
  }
  if (form.size() > kFormBytesMax) return {};
  return form;
}

std::optional<std::string> CreatedFields::Find(std::string_view form) const {
  const auto known = known_.Lock();
  const auto found = std::find_if(known->entries.begin(), known->entries.end(),
                                  [form](const Entry& entry) { return entry.form == form; });
  if (found == known->entries.end()) return std::nullopt;
  return found->fields;
}

void CreatedFields::Add(std::string form, std::string_view fields) {
  Entry entry{std::move(form), std::string(fields)};
  if (entry.bytes() > kBytesMax) return;
  const auto known = known_.Lock();
  known->bytes += entry.bytes();
  known->entries.push_back(std::move(entry));
  while (known->bytes > kBytesMax || known->entries.size() > kEntriesMax) {
    known->bytes -= known->entries.front().bytes();
    known->entries.pop_front();
  }
}

}  // namespace apiserver::v0::patch::apply
