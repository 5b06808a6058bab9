#pragma once

#include <map>
#include <string>
#include <vector>

#include "apiserver/patch/apply/field_manager.h"
#include "endpoints/handlers/scope.h"

namespace apiserver::inline v0::endpoints {

// Makes the field managers of a group version's scopes. The types of each kind are made once.
class FieldManagers {
 public:
  explicit FieldManagers(const Environment& environment) : environment_(environment) {}

  // Returns null if the scope has no writes.
  patch::apply::FieldManagerPtr For(const RequestScope& scope);

 private:
  const Environment& environment_;
  std::map<runtime::KindPtr, patch::apply::TypeConverterPtr> types_;
};

}  // namespace apiserver::inline v0::endpoints
