#pragma once

#include <cstddef>
#include <string>

#include "apiserver/patch/apply/managed_fields.h"

namespace apiserver::inline v0::patch::apply {

// Returns the fields that nobody owns: apiVersion, kind and the system's part of metadata. The set
// lives as long as the program.
FieldSet NobodysFields();
// Removes fields without owners from those of `manager`. Upstream's stripMetaManager.
void StripFields(Managers& managers, const std::string& manager, runtime::Arena& arena);

// Makes the oldest updates one entry per version, "ancient-changes", until at most `max` are left.
// Upstream's capManagersManager.
void CapUpdateManagers(Managed& managed, std::size_t max, runtime::Arena& arena);

}  // namespace apiserver::inline v0::patch::apply
