#include <string>

#include "admission/policy/source.h"
#include "apiserver/codec/json.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission::policy {

namespace {

using runtime::Value;

// True if a member of a row of discovery is absent, or has this text.
bool SameIfSaid(const Value& said, std::string_view own) {
  return said.AsString().empty() || said.AsString() == own;
}

Status Unknown(const runtime::GroupVersionKind& kind) {
  return {Reason::kNotFound, "no matches for kind \"" + kind.kind + "\" in version \"" +
                                 kind.group_version().ToString() + "\""};
}

}  // namespace

Result<KindMapping> MapKind(const Context& ctx, client::Client& client,
                            const runtime::GroupVersionKind& kind) {
  const std::string path =
      kind.group.empty() ? "/api/" + kind.version : "/apis/" + kind.group + "/" + kind.version;
  ASSIGN_OR_RETURN(const http::ClientResponse response, client.Call(ctx, {.target = path}));
  if (response.code == 404) return Unknown(kind);
  if (response.code != 200) {
    return Status(Reason::kServiceUnavailable,
                  "discovery answered " + std::to_string(response.code) + " for " + path);
  }
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value list, codec::ParseJson(response.body, arena));
  for (const Value& row : list["resources"].items()) {
    const std::string_view name = row["name"].AsString();
    const bool subresource = name.find('/') != name.npos;
    if (subresource || row["kind"].AsString() != kind.kind) continue;
    // A row of another group describes what a subresource holds.
    if (!SameIfSaid(row["group"], kind.group) || !SameIfSaid(row["version"], kind.version))
      continue;
    return KindMapping{.resource = {kind.group, kind.version, std::string(name)},
                       .namespaced = row["namespaced"].AsBool()};
  }
  return Unknown(kind);
}

}  // namespace apiserver::v0::admission::policy
