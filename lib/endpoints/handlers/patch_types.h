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

// A Content-Type header without its parameters.
std::string_view PatchMediaTypeOf(std::string_view content_type);
// "application/json-patch+json".
std::string_view MediaTypeOf(PatchType type);
// What objects of `kind` may be patched with, in the order in which OpenAPI lists them. Strategic
// merge patches are for Go types alone: custom resources have no patch strategies.
const std::vector<PatchType>& PatchTypesOf(const runtime::Kind& kind);
// The type named by a Content-Type header; parameters are ignored. nullopt: `kind` has none such.
std::optional<PatchType> PatchTypeOf(const runtime::Kind& kind, std::string_view content_type);
// Their media types.
std::vector<std::string> PatchMediaTypes(const runtime::Kind& kind);
// An apply whose body is CBOR; of servers that speak it.
inline constexpr std::string_view kApplyCborMediaType = "application/apply-patch+cbor";
// The media types joined by ", ", for the message of a 415.
std::string AcceptedPatchTypes(const runtime::Kind& kind, bool cbor);

}  // namespace apiserver::inline v0::endpoints
