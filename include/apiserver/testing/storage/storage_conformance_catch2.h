#pragma once

#include <string>

#include "apiserver/testing/storage/cases_catch2.h"
#include "apiserver/testing/storage/storage_conformance.h"

// The storage cases as Catch2 (2 or 3) test cases. Only for test programs, since it requires
// Catch2.
namespace apiserver::inline v0::testing::storage {

// Registers one test case for each case: "<name>: <case>", tagged "[<name>][conformance]". To be
// initialised in a test file:
//
//   const bool registered =
//       RegisterStorageConformance("store over mine", StoreHost(OpenMyEngine));
inline bool RegisterStorageConformance(const std::string& name, const StorageHost& host) {
  RegisterCases(name, StorageCases(), host);
  return true;
}

}  // namespace apiserver::inline v0::testing::storage
