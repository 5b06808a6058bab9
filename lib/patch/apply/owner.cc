#include "patch/apply/owner.h"

#include <algorithm>
#include <span>
#include <string>
#include <tuple>

#include "apiserver/base/field_path.h"
#include "text/scan.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Value;

constexpr std::string_view kOnlyFieldsType = "FieldsV1";

Status UnreadableOwner(std::string message) { return {Reason::kBadRequest, std::move(message)}; }

std::optional<runtime::UnixTime> TimeOf(Value entry) {
  const std::string_view text = entry["time"].AsString();
  if (text.empty()) return std::nullopt;
  const auto time = runtime::ParseTime(text);
  if (!time.ok()) return std::nullopt;
  return *time;
}

// Follows sortEncodedManagedFields.
bool IsListedBefore(const Owner& a, const Owner& b) {
  const auto order = [](const Owner& owner, std::int64_t seconds) {
    const ManagerInfo& info = owner.info;
    return std::tuple<const std::string&, std::int64_t, const std::string&, const std::string&,
                      const std::string&>(info.operation, seconds, info.manager, info.api_version,
                                          info.subresource);
  };
  return order(a, a.time ? a.time->seconds : 0) < order(b, b.time ? b.time->seconds : 0);
}

// Builds the entry in the order of the type's fields, so that normalizing leaves it as it is.
Value EntryOf(const Owner& owner, runtime::Arena& arena) {
  const auto text = [&arena](std::string_view of) { return Value::String(arena.Copy(of)); };
  const ManagerInfo& info = owner.info;
  runtime::MapBuilder entry(arena);
  if (!info.manager.empty()) entry.Add("manager", text(info.manager));
  entry.Add("operation", text(info.operation));
  entry.Add("apiVersion", text(info.api_version));
  if (owner.time) entry.Add("time", text(runtime::FormatTime(*owner.time)));
  entry.Add("fieldsType", Value::String(kOnlyFieldsType));
  entry.Add("fieldsV1", owner.fields_v1);
  if (!info.subresource.empty()) entry.Add("subresource", text(info.subresource));
  return entry.Build();
}

}  // namespace

Owner OwnerOf(Value entry) {
  return {.info = {.manager = std::string(entry["manager"].AsString()),
                   .operation = std::string(entry["operation"].AsString()),
                   .api_version = std::string(entry["apiVersion"].AsString()),
                   .subresource = std::string(entry["subresource"].AsString())},
          .time = TimeOf(entry),
          .fields_v1 = entry["fieldsV1"]};
}

Status CheckOwner(Value entry, const ManagerInfo& info, std::size_t index) {
  if (info.operation != kApply && info.operation != kUpdate) {
    return UnreadableOwner("operation must be `Apply` or `Update`");
  }
  if (info.api_version.empty()) return UnreadableOwner("apiVersion must not be empty");
  const std::string_view type = entry["fieldsType"].AsString();
  if (type == kOnlyFieldsType) return {};
  const std::string place = " in managed fields entry " + std::to_string(index);
  if (type.empty()) return UnreadableOwner("missing fieldsType" + place);
  return UnreadableOwner("invalid fieldsType " + field::Quote(type) + place);
}

bool IsAsWritten(const Value& fields, FieldSet set, bool member) {
  if (!fields.is_map()) return false;
  std::span<const runtime::Member> members = fields.members();
  if (member) {
    if (members.empty() || members[0].key != "." || !members[0].value.is_map()) return false;
    if (members[0].value.size() != 0) return false;
    members = members.subspan(1);
  }
  const auto entries = set.entries();
  return std::equal(members.begin(), members.end(), entries.begin(), entries.end(),
                    [](const runtime::Member& read, const FieldSet::Entry& entry) {
                      const std::string_view key = read.key;
                      if (entry.element.kind() != PathElement::Kind::kFieldName ||
                          !key.starts_with("f:") || key.substr(2) != entry.element.field_name() ||
                          text::UnescapedPrefix(key) != key.size()) {
                        return false;
                      }
                      if (entry.children.Empty())
                        return read.value.is_map() && read.value.size() == 0;
                      return IsAsWritten(read.value, entry.children, entry.member);
                    });
}

Value ListOfOwners(std::vector<Owner> owners, runtime::Arena& arena) {
  std::sort(owners.begin(), owners.end(), IsListedBefore);
  runtime::ListBuilder list(arena);
  for (const Owner& owner : owners) list.Add(EntryOf(owner, arena));
  return list.Build();
}

}  // namespace apiserver::v0::patch::apply
