#include "patch/apply/conflict_error.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/patch/apply/managed_fields.h"

namespace apiserver::v0::patch::apply {

namespace {

// The most conflicts that are reported, of each manager first in the message; a configuration can
// have a hundred thousand of them.
constexpr std::size_t kToldMax = field::kErrorsMax;
constexpr std::size_t kToldBytesMax = field::kErrorBytesMax;

std::string PathOf(const Conflict& conflict) { return field::Shorten(PathString(conflict.path)); }

std::string More(std::size_t count) { return "and " + std::to_string(count) + " more"; }

// Follows printManager in apimachinery's util/managedfields.
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
           ": " + PathOf(conflicts[0]);
  }
  std::map<std::string_view, std::vector<const Conflict*>> by_manager;
  for (const Conflict& conflict : conflicts) by_manager[conflict.manager].push_back(&conflict);
  std::string message = "Apply failed with " + std::to_string(conflicts.size()) + " conflicts: ";
  std::size_t told = 0;
  for (const auto& [manager, all] : by_manager) {
    if (told > 0) message += '\n';
    message += "conflicts with " + PrintManager(std::string(manager)) + ":";
    for (const Conflict* conflict : all) {
      if (told == kToldMax || message.size() > kToldBytesMax) {
        return message + "\n" + More(conflicts.size() - told);
      }
      message += "\n- " + PathOf(*conflict);
      ++told;
    }
  }
  return message;
}

}  // namespace

Status NewConflictError(const std::vector<Conflict>& conflicts) {
  StatusDetails details;
  std::size_t bytes = 0;
  for (const Conflict& conflict : conflicts) {
    const std::size_t told = details.causes.size();
    if (told == kToldMax || bytes > kToldBytesMax) {
      details.causes.push_back({"", More(conflicts.size() - told), ""});
      break;
    }
    details.causes.push_back({.reason = "FieldManagerConflict",
                              .message = "conflict with " + PrintManager(conflict.manager),
                              .field = PathOf(conflict)});
    bytes += details.causes.back().message.size() + details.causes.back().field.size();
  }
  return Status(Reason::kConflict, MessageOf(conflicts)).WithDetails(std::move(details));
}

}  // namespace apiserver::v0::patch::apply
