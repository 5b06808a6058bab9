#include "endpoints/patch_types.h"

namespace apiserver::inline v0::endpoints {

std::optional<PatchType> PatchTypeOf(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  if (type == "application/json-patch+json") return PatchType::kJsonPatch;
  if (type == "application/merge-patch+json") return PatchType::kMergePatch;
  return std::nullopt;
}

const std::vector<std::string>& PatchMediaTypes() {
  static const std::vector<std::string> types{"application/json-patch+json",
                                              "application/merge-patch+json"};
  return types;
}

std::string AcceptedPatchTypes() {
  std::string joined;
  for (const std::string& type : PatchMediaTypes()) {
    if (!joined.empty()) joined += ", ";
    joined += type;
  }
  return joined;
}

}  // namespace apiserver::inline v0::endpoints
