#pragma once

#include <string_view>

namespace apiserver::inline v0::groups::flowcontrol {

inline constexpr std::string_view kGroup = "flowcontrol.apiserver.k8s.io";
inline constexpr std::string_view kFlowSchemas = "flowschemas";
inline constexpr std::string_view kPriorityLevels = "prioritylevelconfigurations";
// Whether the server may set a suggested object right.
inline constexpr std::string_view kAutoUpdate = "apf.kubernetes.io/autoupdate-spec";

}  // namespace apiserver::inline v0::groups::flowcontrol
