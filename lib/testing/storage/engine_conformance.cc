#include "apiserver/testing/storage/engine_conformance.h"

#include <utility>

#include "base/status_macros.h"
#include "testing/storage/subject.h"

namespace apiserver::v0::testing::storage {
namespace {

void Append(const CaseTable& table, const EngineHost& for_host, std::vector<EngineCase>& cases) {
  for (const CaseRow& row : table) {
    if (row.embedded && for_host.remote) continue;
    cases.push_back({row.name, [run = row.run](const EngineHost& host) -> Status {
                       ASSIGN_OR_RETURN(const auto subject, Subject::Open(host));
                       return run(*subject);
                     }});
  }
}

Status LimitCase(const EngineHost& host) {
  ASSIGN_OR_RETURN(const auto subject, Subject::Open(host));
  const std::string largest(host.value_bytes_max, 'x');
  RETURN_IF_ERROR(subject->Create("a", largest).status());
  EXPECT_REASON(subject->Create("b", largest + "x"), Reason::kRequestEntityTooLarge);
  ASSIGN_OR_RETURN(const std::string keys, subject->Text("b"));
  EXPECT_EQ(keys, "");
  ASSIGN_OR_RETURN(const Revision revision, subject->Current());
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
    cases.push_back({"a value over the limit is refused and changes nothing", LimitCase});
  }
  return cases;
}

}  // namespace apiserver::v0::testing::storage
