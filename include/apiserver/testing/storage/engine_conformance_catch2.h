#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "apiserver/testing/storage/engine_conformance.h"

// The conformance cases as Catch2 (version 2) test cases. Only for test programs: this header and
// storage_conformance_catch2.h require Catch2.
namespace apiserver::inline v0::testing::storage {

// Registers one test case for each case: "<name>: <case>", tagged "[<name>][conformance]". To be
// initialised in a test file:
//
//   const bool registered = RegisterEngineConformance("storage.memory", {.open = ...});
inline bool RegisterEngineConformance(const std::string& name, const EngineHost& host) {
  class Invoker final : public Catch::ITestInvoker {
   public:
    Invoker(EngineCase engine_case, EngineHost engine_host)
        : case_(std::move(engine_case)), host_(std::move(engine_host)) {}
    void invoke() const override {
      const Status outcome = case_.run(host_);
      INFO(outcome.ToString());
      CHECK(outcome.ok());
    }

   private:
    EngineCase case_;
    EngineHost host_;
  };
  // The tags select the cases of one engine, or those of all.
  const std::string tags = "[" + name + "][conformance]";
  for (EngineCase& engine_case : EngineCases(host)) {
    const std::string full_name = name + ": " + engine_case.name;
    // AutoReg owns the invoker.
    Catch::AutoReg(new Invoker(std::move(engine_case), host), CATCH_INTERNAL_LINEINFO,
                   Catch::StringRef(), Catch::NameAndTags(full_name, tags));
  }
  return true;
}

}  // namespace apiserver::inline v0::testing::storage
