#pragma once

#include <string_view>

namespace apiserver::inline v0::groups::flowcontrol {

inline constexpr std::string_view kGroup = "flowcontrol.apiserver.k8s.io";
inline constexpr std::string_view kFlowSchemas = "flowschemas";
inline constexpr std::string_view kPriorityLevels = "prioritylevelconfigurations";
// The annotation that lets the server correct a suggested object.
inline constexpr std::string_view kAutoUpdate = "apf.kubernetes.io/autoupdate-spec";

}  // namespace apiserver::inline v0::groups::flowcontrol
