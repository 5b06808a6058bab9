#include <map>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/patch/apply/updater.h"

namespace apiserver::v0::patch::apply {

std::string ConflictsMessage(std::span<const Conflict> conflicts) {
  std::string out;
  if (conflicts.size() == 1) {
    out.append("conflict with ").append(field::Quote(conflicts[0].manager));
    return out.append(": ").append(PathString(conflicts[0].path));
  }
  std::map<std::string_view, std::vector<const Conflict*>> by_manager;
  for (const Conflict& conflict : conflicts) by_manager[conflict.manager].push_back(&conflict);
  for (const auto& [manager, all] : by_manager) {
    if (!out.empty()) out += '\n';
    out.append("conflicts with ").append(field::Quote(manager)).append(":");
    for (const Conflict* conflict : all) out.append("\n- ").append(PathString(conflict->path));
  }
  return out;
}

}  // namespace apiserver::v0::patch::apply
