#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::runtime {

enum class RenameTo : std::uint8_t { kHub, kVersion };

// Gives the members that `renames` names their other name. Those of one object change together, so
// that two may swap their names.
void RenameFields(Object& object, std::span<const RenameField> renames, RenameTo to);

// Appends to `problems` why the conversions that `version` declares cannot be applied, or lose
// something; `hub` is the kind's hub version.
void CheckRenames(const KindVersion& version, const KindVersion& hub,
                  std::vector<std::string>& problems);

}  // namespace apiserver::inline v0::runtime
