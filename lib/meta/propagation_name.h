#pragma once  // Library-internal: other rooms include this header.

#include <string_view>

#include "apiserver/meta/options.h"

namespace apiserver::inline v0::meta {

// As DeleteOptions have it; empty for kUnset.
inline std::string_view PropagationName(DeletionPropagation policy) {
  switch (policy) {
    case DeletionPropagation::kOrphan:
      return "Orphan";
    case DeletionPropagation::kBackground:
      return "Background";
    case DeletionPropagation::kForeground:
      return "Foreground";
    case DeletionPropagation::kUnset:
      break;
  }
  return "";
}

}  // namespace apiserver::inline v0::meta
