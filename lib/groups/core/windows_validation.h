#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// Validation of what only pods on Windows have.
namespace apiserver::inline v0::groups::core {

// Checks windowsOptions of a security context; null passes.
void CheckWindowsOptions(runtime::Value options, const field::Path& path, field::ErrorList& errors);
// Checks that a pod with host process containers has no others, and the host's network.
void CheckHostProcesses(runtime::Value pod_spec, const field::Path& path, field::ErrorList& errors);

}  // namespace apiserver::inline v0::groups::core
