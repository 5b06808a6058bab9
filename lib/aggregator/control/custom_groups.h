#pragma once

#include <map>
#include <set>
#include <string>

#include "aggregator/control/auto_register.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::aggregator {

// Wants an APIService for each group version that a CustomResourceDefinition serves, whether it is
// established or not: crdRegistrationController of kubernetes/pkg/controlplane. Not thread-safe.
class CustomGroups {
 public:
  // `registration` must outlive this.
  explicit CustomGroups(AutoRegister& registration) : registration_(registration) {}

  // Returns the part of a definition that is used here: most of the rest is schemas.
  static runtime::ObjectPtr UsedOf(const runtime::ObjectPtr& definition);

  // A definition is there, or has changed.
  void Set(const runtime::Object& definition);
  // A definition has gone.
  void Remove(const std::string& name);

 private:
  // Replaces the group versions of a definition, by the names of their APIServices.
  void Replace(const std::string& name, std::map<std::string, Wanted> next);

  AutoRegister& registration_;
  std::map<std::string, std::map<std::string, Wanted>> of_definitions_;
  std::map<std::string, int> uses_;  // How many definitions serve a group version.
};

}  // namespace apiserver::inline v0::aggregator
