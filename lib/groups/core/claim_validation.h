#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::groups::core {

// Checks a PersistentVolumeClaimTemplate: its metadata has labels and annotations only. Of the
// spec, data sources are not looked at.
void CheckClaimTemplate(runtime::Value claim, const field::Path& path, field::ErrorList& errors);

}  // namespace apiserver::inline v0::groups::core
