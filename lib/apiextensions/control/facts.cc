#include "apiextensions/control/facts.h"

#include <algorithm>
#include <utility>

#include "apiserver/apiextensions/definition.h"
#include "apiserver/base/context.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/scheme.h"
#include "base/status_macros.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Value;

std::string TextIn(const Value& value) { return std::string(value.AsString()); }

std::vector<std::string> TextsIn(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& item : list.items()) texts.push_back(TextIn(item));
  return texts;
}

bool HasFinalizer(const runtime::Object& object, std::string_view name) {
  const auto finalizers = object.finalizers().items();
  return std::any_of(finalizers.begin(), finalizers.end(),
                     [name](const Value& each) { return each.AsString() == name; });
}

// Follows defaultDeprecationWarning of pkg/apiserver/customresource_handler.go: names the best
// version that is newer, served and not deprecated.
std::string DeprecationOf(const Value& spec, std::string_view deprecated) {
  std::string_view instead;
  for (const Value& version : spec["versions"].items()) {
    const std::string_view name = version["name"].AsString();
    if (!version["served"].AsBool() || version["deprecated"].AsBool()) continue;
    if (!runtime::VersionPreferred(name, deprecated)) continue;
    if (instead.empty() || runtime::VersionPreferred(name, instead)) instead = name;
  }
  const auto named = [&spec](std::string_view version) {
    std::string text(spec["group"].AsString());
    text.append("/").append(version).append(" ").append(spec["names"]["kind"].AsString());
    return text;
  };
  std::string text = named(deprecated) + " is deprecated";
  return instead.empty() ? text : text + "; use " + named(instead);
}

rest::WarningPtr WarningOf(const Value& spec, const Value& version) {
  if (!version["deprecated"].AsBool()) return nullptr;
  const Value own = version["deprecationWarning"];
  return std::make_shared<const rest::Warning>(
      own.is_null() ? DeprecationOf(spec, version["name"].AsString()) : TextIn(own));
}

VersionFacts VersionIn(const Value& spec, const Value& version) {
  const Value subresources = version["subresources"];
  return {.name = TextIn(version["name"]),
          .served = version["served"].AsBool(),
          .storage = version["storage"].AsBool(),
          .status = !subresources["status"].is_null(),
          .scale = !subresources["scale"].is_null(),
          .deprecation = WarningOf(spec, version)};
}

}  // namespace

const VersionFacts* Facts::FindVersion(std::string_view version) const {
  const auto found = std::find_if(versions.begin(), versions.end(),
                                  [&](const VersionFacts& each) { return each.name == version; });
  return found == versions.end() ? nullptr : &*found;
}

const VersionFacts* Facts::StorageVersion() const {
  const auto found = std::find_if(versions.begin(), versions.end(),
                                  [](const VersionFacts& each) { return each.storage; });
  return found == versions.end() ? nullptr : &*found;
}

std::unique_ptr<runtime::Object> ReadOnce(const runtime::Object& definition) {
  std::unique_ptr<runtime::Object> read = definition.Clone();
  // An object that cannot be read stays as it is stored, and reads as empty.
  if (read->load_status().ok()) (void)runtime::Convert(Context::Background(), *read, "v1");
  return read;
}

Names NamesIn(const Value& names) {
  return {.plural = TextIn(names["plural"]),
          .singular = TextIn(names["singular"]),
          .short_names = TextsIn(names["shortNames"]),
          .kind = TextIn(names["kind"]),
          .list_kind = TextIn(names["listKind"]),
          .categories = TextsIn(names["categories"])};
}

Result<ReadDefinition> FactsOf(const runtime::ObjectPtr& definition, const FindFacts& find_before) {
  std::unique_ptr<runtime::Object> read = ReadOnce(*definition);
  RETURN_IF_ERROR(read->load_status());
  // Fails again if ReadOnce() could not convert it.
  RETURN_IF_ERROR(runtime::Convert(Context::Background(), *read, "v1"));
  auto facts = std::make_shared<Facts>();
  const Value spec = (*read)["spec"];
  facts->object = definition;
  facts->name = read->name();
  facts->uid = read->uid();
  facts->generation = read->generation();
  facts->group = TextIn(spec["group"]);
  facts->namespaced = spec["scope"].AsString() != "Cluster";
  facts->requested = NamesIn(spec["names"]);
  facts->accepted = NamesIn((*read)["status"]["acceptedNames"]);
  for (const Value& version : spec["versions"].items()) {
    facts->versions.push_back(VersionIn(spec, version));
  }
  const Value names = FindCondition(*read, kNamesAccepted);
  facts->names_accepted = names["status"].AsString() == "True";
  facts->names_reason = TextIn(names["reason"]);
  facts->names_message = TextIn(names["message"]);
  facts->established = IsConditionTrue(*read, kEstablished);
  facts->judged = !FindCondition(*read, kEstablished).is_null();
  facts->deleting = read->deleting();
  facts->finalizers = read->finalizers().size() > 0;
  facts->cleanup = HasFinalizer(*read, kCleanupFinalizer);
  const FactsPtr before = find_before(facts->name);
  const bool same =
      before != nullptr && before->uid == facts->uid && before->generation == facts->generation;
  facts->structure = same ? before->structure : StructureOf(*read);
  facts->structure_told = StructureTold(*read);
  return ReadDefinition{std::move(facts), std::move(read)};
}

bool IsServable(const Facts& facts) { return facts.names_accepted || facts.established; }

}  // namespace apiserver::v0::apiextensions
