#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "apiserver/testing/storage/storage_conformance.h"

// The storage cases as Catch2 (version 2) test cases. Only for test programs, since it requires
// Catch2.
namespace apiserver::inline v0::testing::storage {

// Registers one test case for each case: "<name>: <case>", tagged "[<name>][conformance]". To be
// initialised in a test file:
//
//   const bool registered =
//       RegisterStorageConformance("store over mine", StoreHost(OpenMyEngine));
inline bool RegisterStorageConformance(const std::string& name, const StorageHost& host) {
  class Invoker final : public Catch::ITestInvoker {
   public:
    Invoker(StorageCase storage_case, StorageHost storage_host)
        : case_(std::move(storage_case)), host_(std::move(storage_host)) {}
    void invoke() const override {
      const Status outcome = case_.run(host_);
      INFO(case_.upstream);
      INFO(outcome.ToString());
      CHECK(outcome.ok());
    }

   private:
    StorageCase case_;
    StorageHost host_;
  };
  // The tags select the cases of one storage, or those of all.
  const std::string tags = "[" + name + "][conformance]";
  for (StorageCase& storage_case : StorageCases()) {
    const std::string full_name = name + ": " + storage_case.name;
    // AutoReg owns the invoker.
    Catch::AutoReg(new Invoker(std::move(storage_case), host), CATCH_INTERNAL_LINEINFO,
                   Catch::StringRef(), Catch::NameAndTags(full_name, tags));
  }
  return true;
}

}  // namespace apiserver::inline v0::testing::storage
