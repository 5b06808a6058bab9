#include "apiextensions/documents/documented_version.h"

namespace apiserver::v0::apiextensions {

namespace {

using runtime::Value;

std::string TextOf(Value value) { return std::string(value.AsString()); }

}  // namespace

// The names are those of the spec, as in upstream's builder; discovery shows the accepted ones.
std::optional<DocumentedVersion> DocumentedVersionOf(Value definition, std::string_view version,
                                                     bool structural) {
  const Value spec = definition["spec"];
  for (const Value& each : spec["versions"].items()) {
    if (each["name"].AsString() != version) continue;
    const Value names = spec["names"];
    const Value subresources = each["subresources"];
    const std::string kind = TextOf(names["kind"]);
    const std::string list_kind = TextOf(names["listKind"]);
    return DocumentedVersion{.group = TextOf(spec["group"]),
                             .version = std::string(version),
                             .plural = TextOf(names["plural"]),
                             .kind = kind,
                             .list_kind = list_kind.empty() ? kind + "List" : list_kind,
                             .namespaced = spec["scope"].AsString() == "Namespaced",
                             .status = !subresources["status"].is_null(),
                             .scale = !subresources["scale"].is_null(),
                             .preserve_unknown_fields = spec["preserveUnknownFields"].AsBool(),
                             .schema = structural ? each["schema"]["openAPIV3Schema"] : Value(),
                             .selectable_fields = each["selectableFields"]};
  }
  return std::nullopt;
}

std::string DefinitionNameOf(std::string_view group, std::string_view version,
                             std::string_view kind) {
  std::string name;
  while (!group.empty()) {
    const std::size_t dot = group.rfind('.');
    name.append(group.substr(dot == std::string_view::npos ? 0 : dot + 1)).append(".");
    group = dot == std::string_view::npos ? "" : group.substr(0, dot);
  }
  return name.append(version).append(".").append(kind);
}

}  // namespace apiserver::v0::apiextensions
