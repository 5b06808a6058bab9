#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace apiserver::inline v0::endpoints {

// The kinds of patch that are served; discovery and OpenAPI list exactly these.
enum class PatchType : std::uint8_t { kJsonPatch, kMergePatch };

// The type named by a Content-Type header; parameters are ignored. nullopt: not served.
std::optional<PatchType> PatchTypeOf(std::string_view content_type);
// Their media types, in the order in which OpenAPI lists them.
const std::vector<std::string>& PatchMediaTypes();
// The same, joined by ", ", for the message of a 415.
std::string AcceptedPatchTypes();

}  // namespace apiserver::inline v0::endpoints
