#include "apiserver/testing/storage/engine_conformance.h"

#include "base/status_macros.h"
#include "testing/storage/run_case.h"
#include "testing/storage/subject.h"

namespace apiserver::v0::testing::storage {
namespace {

void Append(const CaseTable& table, const EngineHost& for_host, std::vector<EngineCase>& cases) {
  for (const CaseRow& row : table) {
    if (row.embedded && for_host.remote) continue;
    cases.push_back(
        {row.name, [run = row.run](const EngineHost& host) { return RunCase(host, run); }});
  }
}

Status LimitCase(Subject& s) {
  const std::string largest(s.host().value_bytes_max, 'x');
  RETURN_IF_ERROR(s.Create("a", largest).status());
  EXPECT_REASON(s.Create("b", largest + "x"), Reason::kRequestEntityTooLarge);
  ASSIGN_OR_RETURN(const std::string keys, s.Text("b"));
  EXPECT_EQ(keys, "");
  ASSIGN_OR_RETURN(const Revision revision, s.Current());
  EXPECT_EQ(revision, 2);
  return Status::Ok();
}

}  // namespace

std::vector<EngineCase> EngineCases(const EngineHost& host) {
  std::vector<EngineCase> cases;
  for (const CaseTable& table : {WriteCases(), RangeCases(), HistoryCases(), TailCases(),
                                 LeaseCases(), LifeCases(), ConcurrencyCases(), ModelCases()}) {
    Append(table, host, cases);
  }
  if (host.observers) {
    Append(ObserverCases(), host, cases);
    Append(ObserverLifeCases(), host, cases);
  }
  if (host.reopen) Append(DurableCases(), host, cases);
  if (host.value_bytes_max > 0) {
    Append({{"a value over the limit is refused and changes nothing", LimitCase}}, host, cases);
  }
  return cases;
}

}  // namespace apiserver::v0::testing::storage
