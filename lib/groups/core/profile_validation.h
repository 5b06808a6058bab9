#pragma once

#include <string_view>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// Validation of seccomp and AppArmor profiles; null passes.
namespace apiserver::inline v0::groups::core {

// Annotations of containers: this, and the container's name.
inline constexpr std::string_view kAppArmorPrefix =
    "container.apparmor.security.beta.kubernetes.io/";

void CheckSeccompProfile(runtime::Value profile, const field::Path& path, field::ErrorList& errors);
void CheckAppArmorProfile(runtime::Value profile, const field::Path& path,
                          field::ErrorList& errors);

}  // namespace apiserver::inline v0::groups::core
