#include "apiextensions/control/status_owner.h"

#include <memory>

#include "apiserver/apiextensions/definition.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Value;

// The name of upstream's server, which its clients send as User-Agent.
constexpr std::string_view kManager = "kube-apiserver";
constexpr std::string_view kVersion = "v1";

// Returns what is needed of a definition to find the owners of its status. The schemas do not
// change, and are too large to be compared for that.
runtime::Object StatusOnly(const runtime::Object& definition, const Value& status) {
  runtime::Arena arena;
  runtime::MapBuilder metadata(arena);
  for (const runtime::Member& member : definition.metadata().members()) {
    if (member.key == "uid" || member.key == "managedFields")
      metadata.Add(member.key, member.value);
  }
  runtime::MapBuilder root(arena);
  root.Add("metadata", metadata.Build());
  if (!status.is_null()) root.Add("status", status);
  const Value content = root.Build();
  return {DefinitionKind(), kVersion, std::move(arena), content};
}

}  // namespace

StatusOwner::StatusOwner(const Clock& clock)
    : fields_({.types = std::make_shared<patch::apply::TypeConverter>(DefinitionKind()),
               .version = std::string(kVersion),
               .subresource = "status",
               .clock = &clock}) {}

void StatusOwner::Note(const Context& ctx, const Value& before, runtime::Object& definition) const {
  const runtime::Object live = StatusOnly(definition, before);
  runtime::Object now = StatusOnly(definition, definition["status"]);
  fields_.Update(ctx, &live, now, kManager);
  const Value owners = now.metadata()["managedFields"];
  if (owners.is_null()) return;
  definition.SetPath({"metadata", "managedFields"}, runtime::Copy(owners, definition.arena()));
}

}  // namespace apiserver::v0::apiextensions
