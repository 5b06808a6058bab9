#include <algorithm>
#include <utility>

#include "apiextensions/kind/strategy.h"
#include "apiserver/apiextensions/definition.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Object;
using runtime::Value;

std::vector<meta::TableColumnDefinition> Headers() {
  return {{"Name", "string", "name", "The name of the definition: <plural>.<group>.", 0},
          {"Scope", "string", "", "Cluster/Namespaced", 0},
          {"Versions", "string", "", "Served versions", 0},
          {"Created At", "date", "", "The time at which the definition was created.", 0},
          {"Group", "string", "", "API group", 1},
          {"Kind", "string", "", "CustomResource kind", 1},
          {"ShortNames", "string", "", "Short names", 1},
          {"Established", "boolean", "", "Established status", 1}};
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ",") + text;
  return all;
}

std::string ServedVersions(const Object& definition) {
  std::vector<std::string> versions;
  for (const Value& version : definition["spec"]["versions"].items()) {
    if (!version["served"].AsBool()) continue;
    versions.emplace_back(version["name"].AsString());
    if (version["storage"].AsBool()) versions.back() += "(storage)";
  }
  std::sort(versions.begin(), versions.end());
  return Joined(versions);
}

// Follows tableconvertor of pkg/registry/customresourcedefinition.
class Columns final : public rest::TableConvertor {
 public:
  Result<meta::Table> ConvertToTable(const Context& /*ctx*/,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    meta::Table table;
    if (!options.no_headers) table.columns = Headers();
    for (const runtime::ObjectPtr& item : items) {
      meta::TableRow row;
      const auto add = [&](std::string_view text) {
        row.cells.push_back(Value::String(table.arena.Copy(text)));
      };
      const Value spec = (*item)["spec"];
      std::vector<std::string> short_names;
      for (const Value& name : spec["names"]["shortNames"].items()) {
        short_names.emplace_back(name.AsString());
      }
      add(item->name());
      add(spec["scope"].AsString());
      add(ServedVersions(*item));
      add(item->metadata()["creationTimestamp"].AsString());
      add(spec["group"].AsString());
      add(spec["names"]["kind"].AsString());
      add(Joined(short_names));
      row.cells.push_back(Value::Bool(IsConditionTrue(*item, kEstablished)));
      row.object = item;
      table.rows.push_back(std::move(row));
    }
    return table;
  }
};

}  // namespace

std::shared_ptr<const rest::TableConvertor> NewDefinitionColumns() {
  return std::make_shared<Columns>();
}

}  // namespace apiserver::v0::apiextensions
