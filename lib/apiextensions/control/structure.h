#pragma once

#include <string>
#include <string_view>

#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::apiextensions {

inline constexpr std::string_view kStructuralError = "StructuralError";

// The faults of a definition's schemas, as the condition NonStructuralSchema tells them. A
// definition that this server has accepted is structural; one that it finds stored need not be.
struct Structure {
  std::string reason;  // Empty: nothing is wrong.
  std::string message;

  // True if the schemas cannot even be looked at.
  bool unknown() const { return reason == kStructuralError; }
  friend bool operator==(const Structure&, const Structure&) = default;
};

// Looks at the schemas of a definition in v1.
Structure StructureOf(const runtime::Object& definition);
// Returns what the condition of a definition says.
Structure StructureTold(const runtime::Object& definition);

}  // namespace apiserver::inline v0::apiextensions
