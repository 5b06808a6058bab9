#include "apiserver/testing/storage/storage_conformance_catch2.h"
#include "hosts.h"

// Every storage scenario over every engine in every form.
namespace apiserver::inline v0::testing {
namespace {

bool RegisterAll() {
  for (const NamedEngine& engine : Engines()) {
    for (const std::string& form : engine.forms) {
      storage::RegisterStorageConformance(form + " over " + engine.name, HostOf(form, engine.open));
    }
  }
  return true;
}

const bool kRegistered = RegisterAll();

}  // namespace
}  // namespace apiserver::inline v0::testing
