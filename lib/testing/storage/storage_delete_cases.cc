#include "testing/storage/storage_subject.h"

// The cases about deletion: RunTest*Delete* of
// k8s.io/apiserver/pkg/storage/testing/store_tests.go.
namespace apiserver::v0::testing::storage {
namespace {

Status DeleteReturnsTheObjectWithTheDeletesRevision(StorageSubject& s) {
  s.Create("one");
  const auto deleted = s.Delete("one");
  EXPECT(deleted.ok());
  EXPECT_EQ((*deleted)->name(), "one");
  EXPECT_EQ((*deleted)->resource_version(), "3");
  EXPECT_REASON(s.Get("one"), Reason::kNotFound);
  return Status::Ok();
}

Status DeleteOfWhatIsNotThereIsNotFound(StorageSubject& s) {
  EXPECT_REASON(s.Delete("one"), Reason::kNotFound);
  return Status::Ok();
}

Status DeleteChecksPreconditions(StorageSubject& s) {
  s.Create("one");
  UpdateOptions options;
  options.preconditions.uid = "other";
  const auto refused = s.storage->Delete(s.ctx, "/ns/one", options, nullptr);
  EXPECT_REASON(refused, Reason::kConflict);
  EXPECT(refused.status().message().find(
             "UID in precondition: other, UID in object meta: uid-one") != std::string::npos);
  options.preconditions.uid = "uid-one";
  EXPECT(s.storage->Delete(s.ctx, "/ns/one", options, nullptr).ok());
  return Status::Ok();
}

Status WhoeverValidatesADeletionMayRefuseIt(StorageSubject& s) {
  s.Create("one");
  const auto refused =
      s.storage->Delete(s.ctx, "/ns/one", {}, [](const Context&, const runtime::Object& object) {
        return Status(Reason::kForbidden, "not " + std::string(object.name()));
      });
  EXPECT_EQ(refused.status().message(), "not one");
  EXPECT(s.Get("one").ok());
  return Status::Ok();
}

Status DeleteSeesWhatAnotherWroteInBetween(StorageSubject& s) {
  s.Create("one");
  std::vector<std::string> seen;
  const auto deleted =
      s.storage->Delete(s.ctx, "/ns/one", {}, [&](const Context&, const runtime::Object& object) {
        seen.emplace_back(object.resource_version());
        // Writes between the read and the transaction, at the first attempt only.
        return seen.size() == 1 ? s.Resize("one", 3).status() : Status();
      });
  EXPECT(deleted.ok());
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0], "2");
  EXPECT_EQ(seen[1], "3");
  EXPECT_EQ((**deleted)["spec"]["size"].AsInt(), 3);
  return Status::Ok();
}

Status DeleteWithAStaleSuggestionReadsAgain(StorageSubject& s) {
  const auto stale = s.Create("one");
  EXPECT(s.Resize("one", 3).ok());
  UpdateOptions options;
  options.suggestion = stale;
  // The precondition fits the stored object, not the suggestion: it must be checked on the former.
  options.preconditions.resource_version = "3";
  EXPECT(s.storage->Delete(s.ctx, "/ns/one", options, nullptr).ok());
  return Status::Ok();
}

Status DeleteWithASuggestionOfWhatHasGoneIsNotFound(StorageSubject& s) {
  UpdateOptions options;
  options.suggestion = s.Create("one");
  EXPECT(s.Delete("one").ok());
  // The suggestion exists in memory only.
  EXPECT_REASON(s.storage->Delete(s.ctx, "/ns/one", options, nullptr), Reason::kNotFound);
  return Status::Ok();
}

Status DeleteWithASuggestionDeletes(StorageSubject& s) {
  UpdateOptions options;
  options.suggestion = s.Create("one");
  const auto deleted = s.storage->Delete(s.ctx, "/ns/one", options, nullptr);
  EXPECT(deleted.ok());
  EXPECT_EQ((*deleted)->resource_version(), "3");
  EXPECT_REASON(s.Get("one"), Reason::kNotFound);
  return Status::Ok();
}

Status AStaleSuggestionDeletesWhatIsStored(StorageSubject& s) {
  UpdateOptions options;
  options.suggestion = s.Create("one");
  EXPECT(s.Resize("one", 3).ok());
  const auto deleted = s.storage->Delete(s.ctx, "/ns/one", options, nullptr);
  EXPECT(deleted.ok());
  EXPECT_EQ((**deleted)["spec"]["size"].AsInt(), 3);
  EXPECT_EQ((*deleted)->resource_version(), "4");
  return Status::Ok();
}

// Refuses to delete an object of another size; counts its calls.
apiserver::storage::ValidateDeletion OnlySize(int size, std::atomic<int>& calls) {
  return [size, &calls](const Context&, const runtime::Object& object) {
    ++calls;
    if (object["spec"]["size"].AsInt() == size) return Status::Ok();
    return Status(Reason::kForbidden, "another size");
  };
}

Status AStaleSuggestionThatIsRefusedIsReadAgain(StorageSubject& s) {
  UpdateOptions options;
  options.suggestion = s.Create("one");
  EXPECT(s.Resize("one", 3).ok());
  std::atomic<int> calls = 0;
  // The suggestion has no size and is refused; that is not final, since it may be stale.
  EXPECT(s.storage->Delete(s.ctx, "/ns/one", options, OnlySize(3, calls)).ok());
  EXPECT_REASON(s.Get("one"), Reason::kNotFound);
  return Status::Ok();
}

Status WhatOnlyTheSuggestionAllowsIsRefused(StorageSubject& s) {
  s.Create("one");
  UpdateOptions options;
  const auto stale = s.Resize("one", 3);
  EXPECT(stale.ok());
  options.suggestion = *stale;
  EXPECT(s.Resize("one", 4).ok());
  std::atomic<int> calls = 0;
  // The transaction fails on the stale revision, and the validation is asked again.
  EXPECT_REASON(s.storage->Delete(s.ctx, "/ns/one", options, OnlySize(3, calls)),
                Reason::kForbidden);
  EXPECT_EQ((**s.Get("one"))["spec"]["size"].AsInt(), 4);
  return Status::Ok();
}

Status APreconditionIsAboutWhatIsStored(StorageSubject& s) {
  UpdateOptions options;
  options.suggestion = s.Create("one");
  EXPECT(s.Resize("one", 3).ok());
  // The other way round: only the suggestion fits.
  options.preconditions.resource_version = "2";
  EXPECT_REASON(s.storage->Delete(s.ctx, "/ns/one", options, nullptr), Reason::kConflict);
  EXPECT_EQ((*s.Get("one"))->resource_version(), "3");
  return Status::Ok();
}
}  // namespace

StorageCaseTable StorageDeleteCases() {
  return {
      {"delete returns the object with the delete's revision", "RunTestUnconditionalDelete",
       DeleteReturnsTheObjectWithTheDeletesRevision},
      {"delete of what is not there is not found", "RunTestUnconditionalDelete",
       DeleteOfWhatIsNotThereIsNotFound},
      {"delete checks preconditions", "RunTestConditionalDelete", DeleteChecksPreconditions},
      {"whoever validates a deletion may refuse it", "RunTestConditionalDelete",
       WhoeverValidatesADeletionMayRefuseIt},
      {"delete sees what another wrote in between", "RunTestDeleteWithConflict",
       DeleteSeesWhatAnotherWroteInBetween},
      {"delete with a stale suggestion reads again", "RunTestPreconditionalDeleteWithSuggestion",
       DeleteWithAStaleSuggestionReadsAgain},
      {"delete with a suggestion of what has gone is not found",
       "RunTestDeleteWithSuggestionOfDeletedObject", DeleteWithASuggestionOfWhatHasGoneIsNotFound},
      {"delete with a suggestion that is so deletes", "RunTestDeleteWithSuggestion",
       DeleteWithASuggestionDeletes},
      {"a stale suggestion deletes what is stored", "RunTestDeleteWithSuggestionAndConflict",
       AStaleSuggestionDeletesWhatIsStored},
      {"a stale suggestion that validation refuses is read again",
       "RunTestValidateDeletionWithSuggestion", AStaleSuggestionThatIsRefusedIsReadAgain},
      {"what validation allows only of the suggestion is refused",
       "RunTestValidateDeletionWithOnlySuggestionValid", WhatOnlyTheSuggestionAllowsIsRefused},
      {"a precondition that only the suggestion meets is unmet",
       "RunTestPreconditionalDeleteWithOnlySuggestionPass", APreconditionIsAboutWhatIsStored},
  };
}

}  // namespace apiserver::v0::testing::storage
