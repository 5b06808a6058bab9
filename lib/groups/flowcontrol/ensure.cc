#include "groups/flowcontrol/ensure.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_macros.h"
#include "groups/flowcontrol/convert.h"
#include "groups/flowcontrol/names.h"
#include "text/bool.h"

namespace apiserver::v0::groups::flowcontrol {
namespace {

using runtime::Object;

client::Target TargetOf(std::string_view resource, const std::string& name = "") {
  return {.resource = {std::string(kGroup), "v1", std::string(resource)}, .name = name};
}

std::optional<bool> AutoUpdateOf(const Object& object) {
  return text::ParseBool(object.annotations()[kAutoUpdate].AsString());
}

// Compares the settings and not the objects, so that defaults that are written out make no
// difference.
bool SameSpec(const Object& stored, const config::FlowSchema& wanted) {
  config::FlowSchema given = SchemaOf(stored);
  given.uid.clear();
  return given == wanted;
}

bool SameSpec(const Object& stored, const config::PriorityLevelConfiguration& wanted) {
  config::PriorityLevelConfiguration given = LevelOf(stored);
  given.uid.clear();
  if (wanted.exempt) {
    // The operator may give exempt requests a share.
    given.nominal_concurrency_shares = wanted.nominal_concurrency_shares;
    given.lendable_percent = wanted.lendable_percent;
  }
  return given == wanted;
}

// True if another server was faster; the next round will see its result.
bool Overtaken(const Status& status) {
  return status.reason() == Reason::kAlreadyExists || status.reason() == Reason::kConflict ||
         status.reason() == Reason::kNotFound;
}

// Follows EnsureConfiguration of pkg/registry/flowcontrol/ensurer: mandatory objects are always
// corrected, suggested ones unless an administrator took them over.
template <class Wanted>
Status EnsureOne(client::Client& client, const Context& ctx, std::string_view resource,
                 const Wanted& wanted, bool mandatory) {
  const auto expected = ObjectOf(wanted);
  const client::Target target = TargetOf(resource, wanted.name);
  auto stored = client.Get(ctx, target);
  if (stored.status().reason() == Reason::kNotFound) {
    const Status created = client.Create(ctx, TargetOf(resource), *expected).status();
    return Overtaken(created) ? Status() : created;
  }
  RETURN_IF_ERROR(stored.status());
  Object& object = **stored;
  const std::optional<bool> annotated = AutoUpdateOf(object);
  // An object without the annotation is corrected only if it was never changed.
  const bool set_right =
      mandatory || annotated.value_or(object.metadata()["generation"].AsInt() == 1);
  const bool wrong = set_right && !SameSpec(object, wanted);
  if (annotated == set_right && !wrong) return {};
  object.Edit("metadata", "annotations", kAutoUpdate) = set_right ? "true" : "false";
  if (wrong) object.Edit("spec") = Copy((*expected)["spec"], object.arena());
  const Status updated = client.Update(ctx, target, object).status();
  return Overtaken(updated) ? Status() : updated;
}

// Removes objects with the annotation that are not built in any more.
template <class Wanted>
Status RemoveOthers(client::Client& client, const Context& ctx, std::string_view resource,
                    const std::vector<Wanted>& built_in) {
  ASSIGN_OR_RETURN(const runtime::List stored, client.List(ctx, TargetOf(resource)));
  for (const runtime::ObjectPtr& object : stored.items) {
    if (AutoUpdateOf(*object) != true) continue;
    const std::string name(object->name());
    const bool kept =
        std::ranges::any_of(built_in, [&name](const Wanted& each) { return each.name == name; });
    if (kept) continue;
    Status deleted = client.Delete(ctx, TargetOf(resource, name)).status();
    if (!deleted.ok() && !Overtaken(deleted)) return deleted;
  }
  return {};
}

// Schemas first, as upstream; either may exist without the other.
Status EnsureAll(client::Client& client, const Context& ctx, const config::Configuration& wanted,
                 bool mandatory) {
  for (const config::FlowSchema& schema : wanted.flow_schemas) {
    RETURN_IF_ERROR(EnsureOne(client, ctx, kFlowSchemas, schema, mandatory));
  }
  for (const config::PriorityLevelConfiguration& level : wanted.priority_levels) {
    RETURN_IF_ERROR(EnsureOne(client, ctx, kPriorityLevels, level, mandatory));
  }
  return {};
}

}  // namespace

// Follows ensure of pkg/registry/flowcontrol/rest: suggested objects, mandatory ones, and then
// those that are not built in any more.
Status Ensure(client::Client& client, const Context& ctx) {
  RETURN_IF_ERROR(EnsureAll(client, ctx, config::SuggestedConfiguration(), /*mandatory=*/false));
  RETURN_IF_ERROR(EnsureAll(client, ctx, config::MandatoryConfiguration(), /*mandatory=*/true));
  const config::Configuration built_in = config::BuiltInConfiguration();
  RETURN_IF_ERROR(RemoveOthers(client, ctx, kFlowSchemas, built_in.flow_schemas));
  return RemoveOthers(client, ctx, kPriorityLevels, built_in.priority_levels);
}

}  // namespace apiserver::v0::groups::flowcontrol
