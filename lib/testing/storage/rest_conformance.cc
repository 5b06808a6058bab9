#include "apiserver/testing/storage/rest_conformance.h"

#include <algorithm>
#include <iterator>

#include "testing/storage/rest_subject.h"
#include "testing/storage/run_case.h"

namespace apiserver::v0::testing::storage {
namespace rest_kit {
namespace {

struct NeedWord {
  Need need;
  const char* word;
};
constexpr NeedWord kNeedWords[] = {
    {kGet, "get"},
    {kList, "list"},
    {kWatch, "watch"},
    {kCreate, "create"},
    {kUpdate, "update"},
    {kDelete, "delete"},
    {kCollection, "deletecollection"},
    {kNamespaces, "namespaces"},
    {kLabels, "labels"},
    {kExpiry, "expiry"},
    {kValidation, "validation"},
    {kFinalizers, "finalizers"},
    {kBookmarks, "bookmarks"},
};

unsigned LackedBy(const RestHost& host) {
  unsigned lacks = 0;
  for (const NeedWord& row : kNeedWords) {
    const bool named =
        std::find(host.lacks.begin(), host.lacks.end(), row.word) != host.lacks.end();
    if (named) lacks |= row.need;
  }
  return lacks;
}

std::string Words(unsigned needs) {
  std::string words;
  for (const NeedWord& row : kNeedWords) {
    if ((needs & row.need) != 0) words.append(words.empty() ? "" : ", ").append(row.word);
  }
  return words.empty() ? "nothing" : words;
}

// Capabilities that no interface shows: only their own cases find them missing.
constexpr unsigned kInvisible = kFinalizers | kBookmarks;

// Returns the capabilities that the storage visibly lacks.
unsigned Missing(const RestSubject& s) {
  const rest::Capabilities& can = s.can();
  unsigned missing = 0;
  const auto look = [&missing](bool there, Need need) {
    if (!there) missing |= need;
  };
  look(can.getter != nullptr, kGet);
  look(can.lister != nullptr, kList);
  look(can.watcher != nullptr, kWatch);
  look(can.creater != nullptr, kCreate);
  look(can.updater != nullptr, kUpdate);
  look(can.graceful_deleter != nullptr, kDelete);
  look(can.collection_deleter != nullptr, kCollection);
  look(s.namespaced(), kNamespaces);
  look(s.host().mark == nullptr, kLabels);
  look(s.opened().forget != nullptr, kExpiry);
  look(s.host().spoil != nullptr, kValidation);
  return missing;
}

Status LacksWhatItsHostSays(RestSubject& s) {
  for (const std::string& word : s.host().lacks) {
    const bool known = std::any_of(std::begin(kNeedWords), std::end(kNeedWords),
                                   [&word](const NeedWord& row) { return word == row.word; });
    if (!known) return {Reason::kInvalid, "RestHost::lacks has the unknown word " + word};
  }
  const RestHost& host = s.host();
  if ((host.mark == nullptr) != (host.mark_of == nullptr)) {
    return {Reason::kInvalid, "RestHost::mark and RestHost::mark_of belong together"};
  }
  if (host.name != nullptr && s.can().creater != nullptr) {
    return {Reason::kInvalid, "RestHost::name is for a storage without create"};
  }
  EXPECT_EQ(Words(Missing(s)), Words(LackedBy(s.host()) & ~kInvisible));
  return Status::Ok();
}

RestCaseTable AllCases() {
  RestCaseTable all = {{"storage: lacks what its host says, and no more", 0, LacksWhatItsHostSays}};
  for (const RestCaseTable& table :
       {GetCases(), ListCases(), PageCases(), WatchCases(), InitialEventCases(), CreateCases(),
        UpdateCases(), DeleteCases()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

}  // namespace
}  // namespace rest_kit

std::vector<RestCase> RestCases(const RestHost& host) {
  const unsigned lacks = rest_kit::LackedBy(host);
  std::vector<RestCase> cases;
  for (const rest_kit::RestCaseRow& row : rest_kit::AllCases()) {
    if ((row.needs & lacks) != 0) continue;
    cases.push_back(
        {row.name, [run = row.run](const RestHost& opened) { return RunCase(opened, run); }});
  }
  return cases;
}

std::vector<std::string> SkippedRestCases(const RestHost& host) {
  const unsigned lacks = rest_kit::LackedBy(host);
  std::vector<std::string> skipped;
  for (const rest_kit::RestCaseRow& row : rest_kit::AllCases()) {
    const unsigned missing = row.needs & lacks;
    if (missing == 0) continue;
    skipped.push_back(std::string(row.name) + " (needs " + rest_kit::Words(missing) + ")");
  }
  return skipped;
}

}  // namespace apiserver::v0::testing::storage
