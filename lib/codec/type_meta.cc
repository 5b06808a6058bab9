#include "codec/type_meta.h"

#include <algorithm>
#include <span>

#include "apiserver/base/field_path.h"
#include "base/status_macros.h"
#include "runtime/json_type.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Member;
using runtime::Value;

Status BadMeta(std::string what) {
  return Status(Reason::kBadRequest, "couldn't get version/kind; json parse error: json: cannot " +
                                         std::string("unmarshal ") + std::move(what));
}

bool IsTypeMeta(const Member& member) { return member.key == "kind" || member.key == "apiVersion"; }

Result<std::string> TextOf(const Value& root, std::string_view key) {
  const Value value = root[key];
  if (value.is_null()) return std::string();
  if (value.is_string()) return std::string(value.AsString());
  return BadMeta(std::string(runtime::JsonTypeName(value)) + " into Go struct field ." +
                 std::string(key) + " of type string");
}

}  // namespace

Result<TypeMeta> TakeTypeMeta(Value& root, runtime::Arena& arena) {
  if (root.is_null()) root = Value::Map({});
  if (!root.is_map()) {
    return BadMeta(std::string(runtime::JsonTypeName(root)) +
                   " into Go value of type struct { APIVersion string "
                   "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                   "\"json:\\\"kind,omitempty\\\"\" }");
  }
  TypeMeta type;
  ASSIGN_OR_RETURN(type.api_version, TextOf(root, "apiVersion"));
  ASSIGN_OR_RETURN(type.kind, TextOf(root, "kind"));
  // Nearly every client writes them first.
  std::span<const Member> members = root.members();
  while (!members.empty() && IsTypeMeta(members.front())) members = members.subspan(1);
  if (std::any_of(members.begin(), members.end(), IsTypeMeta)) {
    runtime::MapBuilder rest(arena, members.size());
    for (const Member& member : members) {
      if (!IsTypeMeta(member)) rest.Add(member.key, member.value);
    }
    root = rest.Build();
  } else {
    root = Value::Map(members);
  }
  return type;
}

Result<runtime::GroupVersion> ParseGroupVersion(std::string_view api_version) {
  if (std::count(api_version.begin(), api_version.end(), '/') > 1) {
    return Status(Reason::kBadRequest,
                  "unexpected GroupVersion string: " + std::string(api_version));
  }
  if (api_version == "/") return runtime::GroupVersion{};
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return runtime::GroupVersion{"", std::string(api_version)};
  return runtime::GroupVersion{std::string(api_version.substr(0, slash)),
                               std::string(api_version.substr(slash + 1))};
}

Status CheckRegistered(const runtime::Kind& kind, const runtime::GroupVersionKind& gvk) {
  if (gvk.kind == kind.kind() && gvk.group == kind.group() &&
      kind.FindVersion(gvk.version) != nullptr) {
    return {};
  }
  return Status(Reason::kBadRequest, "no kind " + field::Quote(gvk.kind) +
                                         " is registered for version " +
                                         field::Quote(gvk.group_version().ToString()));
}

std::string MissingKindMessage(std::string_view text) {
  return std::string("Object 'Kind' is missing in '").append(text).append("'");
}

std::string NoProtobufMessage(const runtime::Kind& kind, std::string_view version) {
  const std::string type = kind.semantics() == runtime::Semantics::kCustomResource
                               ? "unstructured.Unstructured"
                               : std::string(version) + "." + kind.kind();
  return "object *" + type +
         " does not implement the protobuf marshalling interface and cannot be encoded to a "
         "protobuf message";
}

}  // namespace apiserver::v0::codec
