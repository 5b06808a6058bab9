#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "apiserver/testing/storage/storage_conformance.h"

// docs/conformance.md tells which scenario of k8s.io/apiserver/pkg/storage/testing is covered.
using namespace apiserver;  // NOLINT: a test.
using testing::storage::StorageCases;
using testing::storage::UpstreamScenarios;

namespace {

std::string Table() {
  std::map<std::string, std::vector<std::string>> cases;
  for (const auto& storage_case : StorageCases()) {
    cases[storage_case.upstream].push_back(storage_case.name);
  }
  std::ostringstream table;
  table << "| upstream scenario | here |\n|---|---|\n";
  for (const auto& scenario : UpstreamScenarios()) {
    table << "| " << scenario.name << " | ";
    if (!scenario.not_applicable.empty()) table << "not applicable: " << scenario.not_applicable;
    const char* before = "";
    for (const std::string& name : cases[scenario.name]) {
      table << before << name;
      before = "; ";
    }
    table << " |\n";
  }
  return table.str();
}

}  // namespace

TEST_CASE("conformance: every upstream scenario has a case, or a reason to have none",
          "[conformance]") {
  std::set<std::string> covered;
  for (const auto& storage_case : StorageCases()) covered.insert(storage_case.upstream);
  std::size_t applicable = 0;
  for (const auto& scenario : UpstreamScenarios()) {
    INFO(scenario.name);
    CHECK(covered.count(scenario.name) == (scenario.not_applicable.empty() ? 1U : 0U));
    applicable += scenario.not_applicable.empty() ? 1 : 0;
    covered.erase(scenario.name);
  }
  covered.erase("");
  // No case names a scenario that upstream does not have.
  CHECK(covered.empty());
  CHECK(UpstreamScenarios().size() == 60);
  CHECK(applicable == 54);
}

TEST_CASE("conformance: docs/conformance.md holds the table", "[conformance]") {
  std::ifstream file("docs/conformance.md");
  std::ostringstream page;
  page << file.rdbuf();
  INFO("docs/conformance.md must hold:\n" << Table());
  CHECK(page.str().find(Table()) != std::string::npos);
}
