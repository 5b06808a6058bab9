#include "apiserver/patch/apply/managed_fields.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "base/status_macros.h"
#include "patch/apply/owner.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Value;

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

Value FieldsV1Of(FieldSet set, const Managed::AsRead* as_read, runtime::Arena& arena) {
  if (as_read != nullptr && as_read->set == set) return runtime::Copy(as_read->fields_v1, arena);
  std::string fields;
  AppendFieldsV1(set, fields);
  return Value::Raw(arena.Copy(fields));
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
  return OwnerOf(value).info;
}

Result<Managed> DecodeManagedFields(Value entries, runtime::Arena& arena) {
  Managed managed;
  for (std::size_t i = 0; i < entries.items().size(); ++i) {
    const Value entry = entries.items()[i];
    const auto [info, time, fields_v1] = OwnerOf(entry);
    RETURN_IF_ERROR(CheckOwner(entry, info, i));
    auto set = DecodeFieldsV1(fields_v1, arena);
    if (!set.ok()) {
      return BadRequest("error decoding versioned set from " + info.manager +
                        ": error decoding set: " + std::string(set.status().message()));
    }
    const std::string identifier = BuildManagerIdentifier(info);
    managed.fields.insert_or_assign(identifier, VersionedSet{.set = *set,
                                                             .api_version = info.api_version,
                                                             .applied = info.operation == kApply});
    managed.times.insert_or_assign(identifier, time);
    if (IsAsWritten(fields_v1, *set)) {
      managed.as_read.insert_or_assign(identifier, Managed::AsRead{*set, fields_v1});
    }
  }
  return managed;
}

Result<Value> EncodeManagedFields(const Managed& managed, runtime::Arena& arena) {
  if (managed.fields.empty()) return Value();
  std::vector<Owner> owners;
  owners.reserve(managed.fields.size());
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
    owners.push_back({*std::move(info), when, FieldsV1Of(fields.set, as_read, arena)});
  }
  return ListOfOwners(std::move(owners), arena);
}

Status ValidateManagedFields(Value entries) {
  runtime::Arena arena;
  return DecodeManagedFields(entries, arena).status();
}

}  // namespace apiserver::v0::patch::apply
