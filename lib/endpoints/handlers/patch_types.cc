#include "endpoints/handlers/patch_types.h"

namespace apiserver::v0::endpoints {

std::string_view PatchMediaTypeOf(std::string_view content_type) {
  // Parameters such as a charset are ignored.
  std::string_view media_type = content_type.substr(0, content_type.find(';'));
  while (!media_type.empty() && media_type.back() == ' ') media_type.remove_suffix(1);
  return media_type;
}

std::string_view MediaTypeOf(PatchType type) {
  switch (type) {
    case PatchType::kJsonPatch:
      return "application/json-patch+json";
    case PatchType::kMergePatch:
      return "application/merge-patch+json";
    case PatchType::kStrategicMergePatch:
      return "application/strategic-merge-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";
  }
  return "";
}

const std::vector<PatchType>& PatchTypesOf(const runtime::Kind& kind) {
  static const std::vector<PatchType> structural{PatchType::kJsonPatch, PatchType::kMergePatch,
                                                 PatchType::kApply};
  static const std::vector<PatchType> all{PatchType::kJsonPatch, PatchType::kMergePatch,
                                          PatchType::kStrategicMergePatch, PatchType::kApply};
  // Strategic merge needs the tags of a Go type, which custom resources do not have.
  const bool go_type =
      kind.semantics() == runtime::Semantics::kGoType && kind.versions().front().schema != nullptr;
  return go_type ? all : structural;
}

std::optional<PatchType> PatchTypeOf(const runtime::Kind& kind, std::string_view content_type) {
  const std::string_view media_type = PatchMediaTypeOf(content_type);
  for (const PatchType type : PatchTypesOf(kind)) {
    if (media_type == MediaTypeOf(type)) return type;
  }
  return std::nullopt;
}

std::vector<std::string> PatchMediaTypes(const runtime::Kind& kind) {
  std::vector<std::string> media_types;
  for (const PatchType type : PatchTypesOf(kind)) media_types.emplace_back(MediaTypeOf(type));
  return media_types;
}

std::string AcceptedPatchTypes(const runtime::Kind& kind, bool cbor) {
  std::string joined;
  for (const PatchType type : PatchTypesOf(kind)) {
    if (!joined.empty()) joined += ", ";
    joined += MediaTypeOf(type);
  }
  // Last, as upstream appends it if the feature gate is on.
  if (cbor) joined.append(", ").append(kApplyCborMediaType);
  return joined;
}

}  // namespace apiserver::v0::endpoints
