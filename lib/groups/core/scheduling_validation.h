#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// Validation of what decides where a pod may run.
namespace apiserver::inline v0::groups::core {

// Check the members of a PodSpec of these names; `path` is theirs.
void CheckAffinity(runtime::Value affinity, const field::Path& path, field::ErrorList& errors);
void CheckTolerations(runtime::Value tolerations, const field::Path& path,
                      field::ErrorList& errors);
void CheckSpreadConstraints(runtime::Value constraints, const field::Path& path,
                            field::ErrorList& errors);
void CheckSchedulingGates(runtime::Value gates, const field::Path& path, field::ErrorList& errors);
// Checks the effect of a taint or toleration; `needed`: it must not be empty.
void CheckTaintEffect(runtime::Value effect, bool needed, const field::Path& path,
                      field::ErrorList& errors);

}  // namespace apiserver::inline v0::groups::core
