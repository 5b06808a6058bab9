#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::endpoints {

// The kinds of patch that are served; discovery and OpenAPI list exactly these.
enum class PatchType : std::uint8_t { kJsonPatch, kMergePatch, kStrategicMergePatch, kApply };

// Returns a Content-Type header without its parameters.
std::string_view PatchMediaTypeOf(std::string_view content_type);
// Returns the media type, such as "application/json-patch+json".
std::string_view MediaTypeOf(PatchType type);
// Returns the patches for objects of `kind`, in the order in which OpenAPI lists them. Strategic
// merge patches are only for Go types: custom resources have no patch strategies.
const std::vector<PatchType>& PatchTypesOf(const runtime::Kind& kind);
// Returns the type in a Content-Type header; parameters are ignored. nullopt: `kind` has no such
// patch.
std::optional<PatchType> PatchTypeOf(const runtime::Kind& kind, std::string_view content_type);
// Returns the media types of the patches for `kind`.
std::vector<std::string> PatchMediaTypes(const runtime::Kind& kind);
// The media type of an apply whose body is CBOR, on servers that speak it.
inline constexpr std::string_view kApplyCborMediaType = "application/apply-patch+cbor";
// Returns the media types joined by ", ", for the message of a 415.
std::string AcceptedPatchTypes(const runtime::Kind& kind, bool cbor);

}  // namespace apiserver::inline v0::endpoints
