#include "patch/apply/conflict_error.h"

#include <map>
#include <string>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/patch/apply/managed_fields.h"

namespace apiserver::inline v0::patch::apply {

namespace {

std::string PrintManager(const std::string& manager) {
  const auto info = ParseManagerIdentifier(manager);
  if (!info.ok()) return field::Quote(manager);
  std::string text = field::Quote(info->manager);
  if (!info->subresource.empty()) text += " with subresource " + field::Quote(info->subresource);
  if (info->operation == "Update") text += " using " + info->api_version;
  return text;
}

std::string MessageOf(const std::vector<Conflict>& conflicts) {
  if (conflicts.size() == 1) {
    return "Apply failed with 1 conflict: conflict with " + PrintManager(conflicts[0].manager) +
           ": " + PathString(conflicts[0].path);
  }
  std::map<std::string, std::vector<std::string>> paths;
  for (const Conflict& conflict : conflicts) {
    paths[conflict.manager].push_back(PathString(conflict.path));
  }
  std::string message = "Apply failed with " + std::to_string(conflicts.size()) + " conflicts: ";
  bool first = true;
  for (const auto& [manager, fields] : paths) {
    if (!std::exchange(first, false)) message += '\n';
    message += "conflicts with " + PrintManager(manager) + ":";
    for (const std::string& path : fields) message += "\n- " + path;
  }
  return message;
}

}  // namespace

Status NewConflictError(const std::vector<Conflict>& conflicts) {
  StatusDetails details;
  for (const Conflict& conflict : conflicts) {
    details.causes.push_back({.reason = "FieldManagerConflict",
                              .message = "conflict with " + PrintManager(conflict.manager),
                              .field = PathString(conflict.path)});
  }
  return Status(Reason::kConflict, MessageOf(conflicts)).WithDetails(std::move(details));
}

}  // namespace apiserver::inline v0::patch::apply
