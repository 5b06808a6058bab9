#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "apiserver/testing/storage/rest_conformance.h"

// The cases for a rest::Storage as Catch2 (version 2) test cases. For test programs only: it needs
// Catch2.
namespace apiserver::inline v0::testing::storage {

// Registers one test case for each case that applies: "<name>: <case>", tagged
// "[<name>][conformance]", and one that lists the skipped ones. To be initialised in a test file:
//
//   const bool registered = RegisterRestConformance("my notes", {.open = OpenNotes});
inline bool RegisterRestConformance(const std::string& name, const RestHost& host) {
  class Invoker final : public Catch::ITestInvoker {
   public:
    Invoker(RestCase rest_case, RestHost rest_host)
        : case_(std::move(rest_case)), host_(std::move(rest_host)) {}
    void invoke() const override {
      const Status outcome = case_.run(host_);
      INFO(outcome.ToString());
      CHECK(outcome.ok());
    }

   private:
    RestCase case_;
    RestHost host_;
  };
  const std::string tags = "[" + name + "][conformance]";
  const auto add = [&](RestCase rest_case) {
    const std::string full_name = name + ": " + rest_case.name;
    // AutoReg owns the invoker.
    Catch::AutoReg(new Invoker(std::move(rest_case), host), CATCH_INTERNAL_LINEINFO,
                   Catch::StringRef(), Catch::NameAndTags(full_name, tags));
  };
  for (RestCase& rest_case : RestCases(host)) add(std::move(rest_case));
  const auto skipped = SkippedRestCases(host);
  if (skipped.empty()) return true;
  add({std::to_string(skipped.size()) + " cases are skipped", [skipped](const RestHost&) {
         for (const std::string& line : skipped) WARN("skipped: " << line);
         return Status();
       }});
  return true;
}

}  // namespace apiserver::inline v0::testing::storage
