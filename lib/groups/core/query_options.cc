#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/groups/core_options.h"
#include "apiserver/meta/errors.h"
#include "apiserver/runtime/time.h"
#include "base/status_macros.h"
#include "groups/kinds.h"
#include "groups/workloads_api.h"
#include "meta/query_values.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::SchemaType;
using runtime::Value;

constexpr std::uint64_t kPortMax = 65535;

// Follows Convert_Slice_string_To_Slice_int32: each value may be several, with commas.
Status AddPorts(std::string_view text, runtime::ListBuilder& ports) {
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const Result<std::uint64_t> port = meta::ParseUint(text.substr(0, comma), kPortMax);
    if (!port.ok()) {
      return meta::NewBadRequest("cannot convert to []int32: " +
                                 std::string(port.status().message()));
    }
    ports.Add(Value::Int(static_cast<std::int64_t>(*port)));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return {};
}

Result<Value> ListFrom(const runtime::Field& field, const meta::QueryValues& query,
                       runtime::Arena& arena) {
  runtime::ListBuilder list(arena);
  const bool numbers = field.schema->items()->type == SchemaType::kInteger;
  for (const auto& [name, text] : query) {
    if (name != field.name()) continue;
    if (!numbers) list.Add(Value::String(arena.Copy(text)));
    if (numbers) RETURN_IF_ERROR(AddPorts(text, list));
  }
  return list.size() == 0 ? Value() : list.Build();
}

// Follows Time.UnmarshalQueryParameter. Null: the zero time.
Result<Value> TimeFrom(std::string_view text, runtime::Arena& arena) {
  if (text.empty() || text == "null") return Value();
  ASSIGN_OR_RETURN(const runtime::UnixTime time, runtime::ParseTime(text));
  return Value::String(arena.Copy(runtime::FormatTime(time)));
}

Result<Value> ScalarFrom(const runtime::Schema& schema, std::string_view text,
                         runtime::Arena& arena) {
  switch (schema.type) {
    case SchemaType::kBoolean:
      return Value::Bool(meta::IsTrue(text));
    case SchemaType::kInteger: {
      ASSIGN_OR_RETURN(const std::int64_t number, meta::ParseInt(text));
      return Value::Int(number);
    }
    case SchemaType::kTime:
      return TimeFrom(text, arena);
    default:
      return Value::String(arena.Copy(text));
  }
}

}  // namespace

Result<std::vector<runtime::KindPtr>> OptionKinds() {
  return KindsOfV1(workloads_api::Descriptors(), "k8s.io.api.core.v1",
                   {{.kind = "PodAttachOptions", .plural = "podattachoptions"},
                    {.kind = "PodExecOptions", .plural = "podexecoptions"},
                    {.kind = "PodLogOptions", .plural = "podlogoptions"},
                    {.kind = "PodPortForwardOptions", .plural = "podportforwardoptions"},
                    {.kind = "PodProxyOptions", .plural = "podproxyoptions"},
                    {.kind = "NodeProxyOptions", .plural = "nodeproxyoptions", .namespaced = false},
                    {.kind = "ServiceProxyOptions", .plural = "serviceproxyoptions"}});
}

Result<std::unique_ptr<runtime::Object>> OptionsFromQuery(const runtime::KindPtr& kind,
                                                          const meta::QueryValues& query) {
  const std::string& version = kind->hub_version();
  auto options = std::make_unique<runtime::Object>(kind, version);
  runtime::Arena& arena = options->arena();
  runtime::MapBuilder members(arena);
  for (const runtime::Field& field : kind->FindVersion(version)->schema->fields()) {
    if (field.schema->type == SchemaType::kList) {
      ASSIGN_OR_RETURN(const Value list, ListFrom(field, query, arena));
      if (!list.is_null()) members.Add(field.name(), list);
      continue;
    }
    const auto given = std::ranges::find_if(
        query, [&](const auto& parameter) { return parameter.first == field.name(); });
    if (given == query.end()) continue;
    ASSIGN_OR_RETURN(const Value value, ScalarFrom(*field.schema, given->second, arena));
    members.Add(field.name(), value);
  }
  options->SetRoot(members.Build());
  return options;
}

ErrorList ValidatePodLogOptions(const runtime::Object& options) {
  ErrorList errors;
  const auto require_positive = [&](const char* name) {
    const Value value = options[name];
    if (value.is_null() || value.AsInt() >= 1) return;
    errors.InvalidPrinted(Path(name), std::to_string(value.AsInt()), "must be greater than 0");
  };
  const Value tail = options["tailLines"];
  if (tail.AsInt() < 0) {
    errors.InvalidPrinted(Path("tailLines"), std::to_string(tail.AsInt()),
                          "must be greater than or equal to 0");
  }
  require_positive("limitBytes");
  const bool since = options.root().Find("sinceSeconds") != nullptr;
  if (since && options.root().Find("sinceTime") != nullptr) {
    // Upstream names an empty field, which is printed so.
    errors.Forbidden(Path("[]"), "at most one of `sinceTime` or `sinceSeconds` may be specified");
  } else {
    require_positive("sinceSeconds");
  }
  if (!options["stream"].is_null()) errors.Forbidden(Path("stream"), "may not be specified");
  return errors;
}

}  // namespace apiserver::v0::groups::core
