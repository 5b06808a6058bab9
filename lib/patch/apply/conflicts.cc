#include <map>
#include <vector>

#include "apiserver/patch/apply/updater.h"

#include "patch/apply/go_format.h"

namespace apiserver::inline v0::patch::apply {

std::string ConflictsMessage(std::span<const Conflict> conflicts) {
  std::string out;
  if (conflicts.size() == 1) {
    out += "conflict with ";
    AppendGoQuoted(conflicts[0].manager, out);
    return out.append(": ").append(PathString(conflicts[0].path));
  }
  std::map<std::string_view, std::vector<const Conflict*>> by_manager;
  for (const Conflict& conflict : conflicts) by_manager[conflict.manager].push_back(&conflict);
  for (const auto& [manager, all] : by_manager) {
    if (!out.empty()) out += '\n';
    out += "conflicts with ";
    AppendGoQuoted(manager, out);
    out += ':';
    for (const Conflict* conflict : all) out.append("\n- ").append(PathString(conflict->path));
  }
  return out;
}

}  // namespace apiserver::inline v0::patch::apply
