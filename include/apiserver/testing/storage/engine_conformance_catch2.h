#pragma once

#include <string>

#include "apiserver/testing/storage/cases_catch2.h"
#include "apiserver/testing/storage/engine_conformance.h"

// The conformance cases as Catch2 (2 or 3) test cases. Only for test programs, since it requires
// Catch2.
namespace apiserver::inline v0::testing::storage {

// Registers one test case for each case: "<name>: <case>", tagged "[<name>][conformance]". To be
// initialised in a test file:
//
//   const bool registered = RegisterEngineConformance("storage.memory", {.open = ...});
inline bool RegisterEngineConformance(const std::string& name, const EngineHost& host) {
  RegisterCases(name, EngineCases(host), host);
  return true;
}

}  // namespace apiserver::inline v0::testing::storage
