#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/authz/rbac.h"
#include "groups/rbac/strategy.h"
#include "registry/human_duration.h"

namespace apiserver::v0::groups::rbac {
namespace {

using runtime::Value;

// Returns the subjects of one kind, "a, b"; service accounts as "namespace/name".
std::string NamesOf(const runtime::Object& binding, std::string_view kind) {
  std::string names;
  for (const Value& subject : binding["subjects"].items()) {
    if (subject["kind"].AsString() != kind) continue;
    if (!names.empty()) names += ", ";
    if (kind == authz::rbac::kServiceAccountKind) {
      // The name alone is not unique among service accounts.
      names.append(subject["namespace"].AsString()).append("/");
    }
    names += subject["name"].AsString();
  }
  return names;
}

// Makes the columns of pkg/printers/internalversion for rolebindings and clusterrolebindings.
class BindingColumns final : public rest::TableConvertor {
 public:
  explicit BindingColumns(const Clock& clock) : clock_(clock) {}

  Result<meta::Table> ConvertToTable(const Context& /*ctx*/,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    meta::Table table;
    if (!options.no_headers) {
      table.columns = {
          {"Name", "string", "name", "The binding's name.", 0},
          {"Role", "string", "", "The role that is given.", 0},
          {"Age", "string", "", "How long ago it was created.", 0},
          // Priority 1: only `kubectl get -o wide` shows these.
          {"Users", "string", "", "The users it is given to.", 1},
          {"Groups", "string", "", "The groups it is given to.", 1},
          {"ServiceAccounts", "string", "", "The service accounts it is given to.", 1}};
    }
    for (const runtime::ObjectPtr& item : items) {
      const Value role = (*item)["roleRef"];
      const std::string cells[] = {
          std::string(item->name()),
          std::string(role["kind"].AsString()) + "/" + std::string(role["name"].AsString()),
          registry::AgeOf(*item, clock_),
          NamesOf(*item, authz::rbac::kUserKind),
          NamesOf(*item, authz::rbac::kGroupKind),
          NamesOf(*item, authz::rbac::kServiceAccountKind)};
      meta::TableRow row;
      for (const std::string& cell : cells) {
        row.cells.push_back(Value::String(table.arena.Copy(cell)));
      }
      row.object = item;
      table.rows.push_back(std::move(row));
    }
    return table;
  }

 private:
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<const rest::TableConvertor> NewBindingColumns(const Clock& clock) {
  return std::make_shared<BindingColumns>(clock);
}

}  // namespace apiserver::v0::groups::rbac
