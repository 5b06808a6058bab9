#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apiserver/testing/storage/cases_catch2.h"
#include "apiserver/testing/storage/rest_conformance.h"

// The cases for a rest::Storage as Catch2 (2 or 3) test cases. Only for test programs, since it
// requires Catch2.
namespace apiserver::inline v0::testing::storage {

// Registers one test case for each case that applies: "<name>: <case>", tagged
// "[<name>][conformance]", and one that lists the skipped ones. To be initialised in a test file:
//
//   const bool registered = RegisterRestConformance("my notes", {.open = OpenNotes});
inline bool RegisterRestConformance(const std::string& name, const RestHost& host) {
  std::vector<RestCase> cases = RestCases(host);
  const auto skipped = SkippedRestCases(host);
  if (!skipped.empty()) {
    cases.push_back(
        {std::to_string(skipped.size()) + " cases are skipped", [skipped](const RestHost&) {
           for (const std::string& line : skipped) WARN("skipped: " << line);
           return Status();
         }});
  }
  RegisterCases(name, std::move(cases), host);
  return true;
}

}  // namespace apiserver::inline v0::testing::storage
