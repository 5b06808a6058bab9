#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/status.h"

// Runs the cases of any of the kits under Catch2 (2 or 3). Test programs include the header of
// their kit instead: engine_conformance_catch2.h, storage_conformance_catch2.h or
// rest_conformance_catch2.h.
namespace apiserver::inline v0::testing::storage {

// Registers a test case for each of `cases`: "<name>: <case>", tagged "[<name>][conformance]". Each
// runs on Catch2's thread with a copy of `host` and fails if its Status is an error. `Case` is an
// EngineCase, StorageCase or RestCase, and `Host` what its `run` takes.
template <class Case, class Host>
void RegisterCases(const std::string& name, std::vector<Case> cases, const Host& host) {
  class Invoker final : public Catch::ITestInvoker {
   public:
    Invoker(Case one, Host case_host) : case_(std::move(one)), host_(std::move(case_host)) {}
    void invoke() const override {
      const Status outcome = case_.run(host_);
      if constexpr (requires { case_.upstream; }) UNSCOPED_INFO(case_.upstream);
      INFO(outcome.ToString());
      CHECK(outcome.ok());
    }

   private:
    Case case_;
    Host host_;
  };
  // The tags select the cases of one host, or those of all.
  const std::string tags = "[" + name + "][conformance]";
  for (Case& one : cases) {
    const std::string full_name = name + ": " + one.name;
#if __has_include(<catch2/catch_test_macros.hpp>)
    Catch::Detail::unique_ptr<Catch::ITestInvoker> invoker(new Invoker(std::move(one), host));
    Catch::AutoReg(std::move(invoker), CATCH_INTERNAL_LINEINFO, Catch::StringRef(),
                   Catch::NameAndTags(full_name, tags));
#else
    // AutoReg owns the invoker.
    Catch::AutoReg(new Invoker(std::move(one), host), CATCH_INTERNAL_LINEINFO, Catch::StringRef(),
                   Catch::NameAndTags(full_name, tags));
#endif
  }
}

}  // namespace apiserver::inline v0::testing::storage
