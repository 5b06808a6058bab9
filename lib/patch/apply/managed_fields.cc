#include "apiserver/patch/apply/managed_fields.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"
#include "base/status_macros.h"
#include "text/scan.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Value;

constexpr std::string_view kApply = "Apply";
constexpr std::string_view kUpdate = "Update";
constexpr std::string_view kFieldsV1 = "FieldsV1";

Status BadRequest(std::string message) { return {Reason::kBadRequest, std::move(message)}; }

// Parses identifiers whose names JSON need not escape: nearly all there are. nullopt: it is another
// one.
std::optional<ManagerInfo> ParsePlain(std::string_view identifier) {
  if (identifier.find('\\') != std::string_view::npos) return std::nullopt;
  ManagerInfo info;
  const auto take = [&identifier](std::string_view name, std::string& value) {
    std::string_view rest = identifier.substr(std::min<std::size_t>(1, identifier.size()));
    if (!rest.starts_with(name)) return;
    rest.remove_prefix(name.size());
    const std::size_t end = rest.find('"');
    if (end == std::string_view::npos) return;
    value = rest.substr(0, end);
    identifier = rest.substr(end + 1);
  };
  take("\"manager\":\"", info.manager);
  take("\"operation\":\"", info.operation);
  take("\"apiVersion\":\"", info.api_version);
  take("\"subresource\":\"", info.subresource);
  if (identifier != "}" || info.operation.empty()) return std::nullopt;
  return info;
}

ManagerInfo InfoOf(Value entry) {
  return {.manager = std::string(entry["manager"].AsString()),
          .operation = std::string(entry["operation"].AsString()),
          .api_version = std::string(entry["apiVersion"].AsString()),
          .subresource = std::string(entry["subresource"].AsString())};
}

Status CheckEntry(Value entry, const ManagerInfo& info, std::size_t index) {
  if (info.operation != kApply && info.operation != kUpdate) {
    return BadRequest("operation must be `Apply` or `Update`");
  }
  if (info.api_version.empty()) return BadRequest("apiVersion must not be empty");
  const std::string_view type = entry["fieldsType"].AsString();
  if (type == kFieldsV1) return {};
  const std::string place = " in managed fields entry " + std::to_string(index);
  if (type.empty()) return BadRequest("missing fieldsType" + place);
  return BadRequest("invalid fieldsType " + field::Quote(type) + place);
}

std::optional<runtime::UnixTime> TimeOf(Value entry) {
  const std::string_view text = entry["time"].AsString();
  if (text.empty()) return std::nullopt;
  const auto time = runtime::ParseTime(text);
  if (!time.ok()) return std::nullopt;
  return *time;
}

// An entry in its encoded form, with the keys by which it is sorted.
struct Encoded {
  ManagerInfo info;
  std::int64_t seconds = 0;
  Value entry;

  auto order() const {
    return std::tie(info.operation, seconds, info.manager, info.api_version, info.subresource);
  }
};

// True if AppendFieldsV1() gives `fields` for the set that was read from it, and JSON's encoder the
// same bytes for its keys: plain ones, in order. `member`: the place itself is in the set.
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

Value FieldsV1Of(FieldSet set, const Managed::AsRead* as_read, runtime::Arena& arena) {
  if (as_read != nullptr && as_read->set == set) return runtime::Copy(as_read->fields_v1, arena);
  std::string fields;
  AppendFieldsV1(set, fields);
  return Value::Raw(arena.Copy(fields));
}

// Builds the entry in the order of the type's fields, so that normalizing leaves it as it is.
Value EntryOf(const ManagerInfo& info, const std::optional<runtime::UnixTime>& time, Value fields,
              runtime::Arena& arena) {
  const auto text = [&arena](std::string_view of) { return Value::String(arena.Copy(of)); };
  runtime::MapBuilder entry(arena);
  if (!info.manager.empty()) entry.Add("manager", text(info.manager));
  entry.Add("operation", text(info.operation));
  entry.Add("apiVersion", text(info.api_version));
  if (time) entry.Add("time", text(runtime::FormatTime(*time)));
  entry.Add("fieldsType", Value::String(kFieldsV1));
  entry.Add("fieldsV1", fields);
  if (!info.subresource.empty()) entry.Add("subresource", text(info.subresource));
  return entry.Build();
}

}  // namespace

std::string BuildManagerIdentifier(const ManagerInfo& info) {
  std::string identifier = "{";
  const auto add = [&identifier](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    if (identifier.size() > 1) identifier += ',';
    identifier.append("\"").append(name).append("\":");
    codec::AppendJsonString(value, identifier);
  };
  add("manager", info.manager);
  add("operation", info.operation);
  // Appliers keep one identifier, whichever version they apply in.
  if (info.operation != kApply) add("apiVersion", info.api_version);
  add("subresource", info.subresource);
  return identifier += '}';
}

Result<ManagerInfo> ParseManagerIdentifier(std::string_view identifier) {
  if (auto info = ParsePlain(identifier)) return *std::move(info);
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value value, codec::ParseJson(identifier, arena));
  if (!value.is_map()) return BadRequest("no manager identifier");
  return InfoOf(value);
}

Result<Managed> DecodeManagedFields(Value entries, runtime::Arena& arena) {
  Managed managed;
  for (std::size_t i = 0; i < entries.items().size(); ++i) {
    const Value entry = entries.items()[i];
    const ManagerInfo info = InfoOf(entry);
    RETURN_IF_ERROR(CheckEntry(entry, info, i));
    auto set = DecodeFieldsV1(entry["fieldsV1"], arena);
    if (!set.ok()) {
      return BadRequest("error decoding versioned set from " + info.manager +
                        ": error decoding set: " + std::string(set.status().message()));
    }
    const std::string identifier = BuildManagerIdentifier(info);
    managed.fields.insert_or_assign(identifier, VersionedSet{.set = *set,
                                                             .api_version = info.api_version,
                                                             .applied = info.operation == kApply});
    managed.times.insert_or_assign(identifier, TimeOf(entry));
    if (IsAsWritten(entry["fieldsV1"], *set, /*member=*/false)) {
      managed.as_read.insert_or_assign(identifier, Managed::AsRead{*set, entry["fieldsV1"]});
    }
  }
  return managed;
}

Result<Value> EncodeManagedFields(const Managed& managed, runtime::Arena& arena) {
  if (managed.fields.empty()) return Value();
  std::vector<Encoded> all;
  all.reserve(managed.fields.size());
  for (const auto& [identifier, fields] : managed.fields) {
    auto info = ParseManagerIdentifier(identifier);
    if (!info.ok()) {
      return Status(Reason::kInternalError, "error unmarshalling manager identifier " + identifier +
                                                ": " + std::string(info.status().message()));
    }
    info->api_version = fields.api_version;
    if (fields.applied) info->operation = kApply;
    const auto time = managed.times.find(identifier);
    const auto when = time != managed.times.end() ? time->second : std::nullopt;
    const auto read = managed.as_read.find(identifier);
    const Managed::AsRead* const as_read = read != managed.as_read.end() ? &read->second : nullptr;
    const Value entry = EntryOf(*info, when, FieldsV1Of(fields.set, as_read, arena), arena);
    all.push_back({std::move(*info), when ? when->seconds : 0, entry});
  }
  // Follows sortEncodedManagedFields.
  std::sort(all.begin(), all.end(),
            [](const Encoded& a, const Encoded& b) { return a.order() < b.order(); });
  runtime::ListBuilder list(arena);
  for (const Encoded& encoded : all) list.Add(encoded.entry);
  return list.Build();
}

Status ValidateManagedFields(Value entries) {
  runtime::Arena arena;
  return DecodeManagedFields(entries, arena).status();
}

}  // namespace apiserver::v0::patch::apply
