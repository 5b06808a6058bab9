#include "base/status_macros.h"
#include "testing/storage/storage_subject.h"

// The cases about create, get and update: RunTest* of
// k8s.io/apiserver/pkg/storage/testing/store_tests.go.
namespace apiserver::v0::testing::storage {
namespace {
Status CreateReturnsTheObjectWithItsRevision(StorageSubject& s) {
  const auto created = s.Create("one");
  EXPECT_EQ(created->name(), "one");
  EXPECT_EQ(created->resource_version(), "2");
  EXPECT((*s.Get("one"))->root() == created->root());
  return Status::Ok();
}

Status CreateStoresGosBytesUnderGosKey(StorageSubject& s) {
  // Servers in Go may use the same store, so that keys and bytes must be the same.
  s.Create("one", "ns", "red");
  kv::RangeRequest request;
  request.key = "/registry/test.example.com/widgets/ns/one";
  const auto range = s.engine->Range(s.ctx, request);
  EXPECT_EQ(range->kvs.size(), 1U);
  EXPECT_EQ(
      *range->kvs[0].value,
      "{\"kind\":\"Widget\",\"apiVersion\":\"test.example.com/v1\",\"metadata\":{\"name\":\"one\","
      "\"namespace\":\"ns\",\"uid\":\"uid-one\",\"labels\":{"
      "\"color\":\"red\"}},\"spec\":{\"color\":\"red\"},\"status\":{}}\n");
  return Status::Ok();
}

Status CreateRefusesAKeyThatIsTaken(StorageSubject& s) {
  s.Create("one");
  const auto again = s.storage->Create(s.ctx, "/ns/one", *NewWidget(s.kind, "one"), {});
  EXPECT_REASON(again, Reason::kAlreadyExists);
  // The text is that of upstream's StorageError.
  EXPECT_EQ(again.status().message(),
            "StorageError: key exists, Code: 2, Key: /registry/test.example.com/widgets/ns/one, "
            "ResourceVersion: 0, AdditionalErrorMsg: <nil>");
  return Status::Ok();
}

Status CreateRefusesAnObjectWithAResourceversion(StorageSubject& s) {
  const auto object = NewWidget(s.kind, "one");
  object->Edit("metadata", "resourceVersion") = "1";
  const auto created = s.storage->Create(s.ctx, "/ns/one", *object, {});
  EXPECT_REASON(created, Reason::kInvalid);
  EXPECT(created.status().message() ==
         "resourceVersion should not be set on objects to be created");
  return Status::Ok();
}

Status CreateWithATtlAttachesALease(StorageSubject& s) {
  EXPECT(s.storage->Create(s.ctx, "/ns/one", *NewWidget(s.kind, "one"), std::chrono::seconds(100))
             .ok());
  EXPECT(s.storage->Create(s.ctx, "/ns/two", *NewWidget(s.kind, "two"), std::chrono::seconds(100))
             .ok());
  kv::RangeRequest request;
  request.key = "/";
  request.end = kv::PrefixEnd("/");
  const auto range = s.engine->Range(s.ctx, request);
  EXPECT_EQ(range->kvs.size(), 2U);
  EXPECT(range->kvs[0].lease != 0);
  // Objects that expire at about the same time share a lease.
  EXPECT_EQ(range->kvs[1].lease, range->kvs[0].lease);
  return Status::Ok();
}

Status GetOfWhatIsNotThereIsNotFound(StorageSubject& s) {
  const auto got = s.Get("one");
  EXPECT_REASON(got, Reason::kNotFound);
  EXPECT_EQ(got.status().message(),
            "StorageError: key not found, Code: 1, Key: /registry/test.example.com/widgets/ns/one, "
            "ResourceVersion: 0, AdditionalErrorMsg: <nil>");
  return Status::Ok();
}

Status GetMayReturnNullInsteadOfNotFound(StorageSubject& s) {
  GetOptions options;
  options.ignore_not_found = true;
  const auto got = s.storage->Get(s.ctx, "/ns/one", options);
  EXPECT(got.ok());
  EXPECT(*got == nullptr);
  return Status::Ok();
}

Status GetWaitsForNoRevisionThatHasBeen(StorageSubject& s) {
  const auto created = s.Create("one");
  s.Create("two");
  EXPECT_EQ((*s.Get("one", std::string(created->resource_version())))->resource_version(), "2");
  EXPECT_EQ((*s.Get("one", "3"))->resource_version(), "2");
  EXPECT_EQ((*s.Get("one", ""))->resource_version(), "2");
  return Status::Ok();
}

Status GetOfAFutureRevisionIsTooLarge(StorageSubject& s) {
  s.Create("one");
  EXPECT(s.Get("one", "2").ok());
  ASSIGN_OR_RETURN(const auto impatient, s.OpenImpatient());
  GetOptions options;
  options.resource_version = "1000";
  // A cache waits for the revision to come before it returns the error.
  const auto got = impatient->Get(s.ctx, s.KeyOf("one"), options);
  EXPECT_REASON(got, Reason::kTimeout);
  // Clients tell this from other timeouts by the cause.
  EXPECT_EQ(got.status().message(), "Timeout: Too large resource version: 1000, current: 2");
  EXPECT(got.status().details() != nullptr);
  EXPECT_EQ(got.status().details()->causes[0].reason, "ResourceVersionTooLarge");
  return Status::Ok();
}

Status GetRefusesAResourceVersionThatIsNoNumber(StorageSubject& s) {
  s.Create("one");
  EXPECT_EQ(s.Get("one", "abc").status().message(),
            "invalid resource version: resourceVersion: Invalid value: \"abc\": strconv.ParseUint: "
            "parsing \"abc\": invalid syntax");
  return Status::Ok();
}

Status KeysWithDotsAreRefused(StorageSubject& s) {
  EXPECT_EQ(s.storage->Get(s.ctx, "/ns/../one", {}).status().message(),
            "invalid key: \"/ns/../one\"");
  EXPECT_EQ(s.storage->GetList(s.ctx, "/../", {}).status().message(), "invalid key: \"/../\"");
  EXPECT_EQ(s.storage->Watch(s.ctx, "/./a", {}).status().message(), "invalid key: \"/./a\"");
  return Status::Ok();
}

Status UpdateWritesWhatItIsGiven(StorageSubject& s) {
  s.Create("one");
  const auto updated = s.Resize("one", 3);
  EXPECT(updated.ok());
  EXPECT_EQ((*updated)->resource_version(), "3");
  EXPECT_EQ((**updated)["spec"]["size"].AsInt(), 3);
  EXPECT((*s.Get("one"))->root() == (*updated)->root());
  return Status::Ok();
}

Status UpdateOfWhatIsNotThereIsNotFound(StorageSubject& s) {
  EXPECT_REASON(s.Resize("one", 3), Reason::kNotFound);
  return Status::Ok();
}

Status UpdateMayCreate(StorageSubject& s) {
  UpdateOptions options;
  options.ignore_not_found = true;
  bool was_null = false;
  const auto created = s.storage->GuaranteedUpdate(s.ctx, "/ns/one", options,
                                                   [&](const runtime::ObjectPtr& current) {
                                                     was_null = current == nullptr;
                                                     Update update;
                                                     update.object = NewWidget(s.kind, "one");
                                                     return Result<Update>(std::move(update));
                                                   });
  EXPECT(created.ok());
  EXPECT(was_null);
  EXPECT_EQ((*created)->resource_version(), "2");
  return Status::Ok();
}

Status AnUpdateThatChangesNoByteIsNoWrite(StorageSubject& s) {
  s.Create("one");
  EXPECT(s.Resize("one", 3).ok());
  const auto again = s.Resize("one", 3);
  EXPECT(again.ok());
  EXPECT_EQ((*again)->resource_version(), "3");
  // The engine has no revision for it, so that no watch gets an event.
  EXPECT_EQ(*s.engine->CurrentRevision(s.ctx), 3);
  return Status::Ok();
}

Status AnUpdateRewritesBytesThatDifferOnlyInForm(StorageSubject& s) {
  kv::TxnRequest txn;
  txn.key = "/registry/test.example.com/widgets/ns/one";
  txn.value = std::make_shared<const std::string>(
      R"({"apiVersion":"test.example.com/v1","kind":"Widget","metadata":{"namespace":"ns",)"
      R"("name":"one"},"spec":{"size":3}})");
  // Another writer's order of fields: the same object in other bytes.
  EXPECT(s.engine->Txn(s.ctx, txn)->succeeded);
  const auto updated = s.Resize("one", 3);
  EXPECT(updated.ok());
  EXPECT_EQ((*updated)->resource_version(), "3");
  return Status::Ok();
}

Status UpdateChecksPreconditions(StorageSubject& s) {
  s.Create("one");
  UpdateOptions options;
  options.preconditions.resource_version = "1";
  const auto refused =
      s.storage->GuaranteedUpdate(s.ctx, "/ns/one", options, [](const runtime::ObjectPtr& current) {
        Update update;
        update.object = current->Clone();
        return Result<Update>(std::move(update));
      });
  EXPECT_REASON(refused, Reason::kConflict);
  EXPECT(refused.status().message().find("Precondition failed: ResourceVersion in precondition: 1, "
                                         "ResourceVersion in object meta: 2") != std::string::npos);
  return Status::Ok();
}

Status TheUpdatersErrorIsReturnedAsItIs(StorageSubject& s) {
  s.Create("one");
  const auto refused = s.storage->GuaranteedUpdate(
      s.ctx, "/ns/one", {},
      [](const runtime::ObjectPtr&) -> Result<Update> { return Status(Reason::kForbidden, "no"); });
  // Without a prefix or another reason: the API returns it to the client.
  EXPECT(refused.status() == Status(Reason::kForbidden, "no"));
  return Status::Ok();
}

Status UpdateStartsAgainWhenAnotherWritesInBetween(StorageSubject& s) {
  s.Create("one");
  int calls = 0;
  const auto updated = s.storage->GuaranteedUpdate(
      s.ctx, "/ns/one", {}, [&](const runtime::ObjectPtr& current) -> Result<Update> {
        // Another write between the read and the transaction, at the first attempt only.
        if (++calls == 1) EXPECT(s.Resize("one", 7, "red").ok());
        Update update;
        update.object = current->Clone();
        update.object->Edit("status", "phase") = "done";
        return Result<Update>(std::move(update));
      });
  EXPECT(updated.ok());
  EXPECT_EQ(calls, 2);
  // The second attempt starts from the other write, so that both changes stay.
  EXPECT_EQ((**updated)["spec"]["size"].AsInt(), 7);
  EXPECT_EQ((**updated)["status"]["phase"].AsString(), "done");
  return Status::Ok();
}

Status UpdateRefusesAStaleSuggestionOnlyAfterReading(StorageSubject& s) {
  const auto stale = s.Create("one");
  EXPECT(s.Resize("one", 3).ok());
  UpdateOptions options;
  options.suggestion = stale;
  const auto updated = s.storage->GuaranteedUpdate(
      s.ctx, "/ns/one", options, [](const runtime::ObjectPtr& current) -> Result<Update> {
        // Refuses the suggestion: an error about a stale object must not reach the caller.
        if ((*current)["spec"]["size"].AsInt() != 3) return Status(Reason::kInvalid, "stale");
        Update update;
        update.object = current->Clone();
        update.object->Edit("spec", "size") = 4;
        return update;
      });
  EXPECT(updated.ok());
  EXPECT_EQ((**updated)["spec"]["size"].AsInt(), 4);
  return Status::Ok();
}

Status ANoOpOnAStaleSuggestionIsNotBelieved(StorageSubject& s) {
  UpdateOptions options;
  options.suggestion = s.Create("one");
  EXPECT(s.Resize("one", 3).ok());
  const auto updated =
      s.storage->GuaranteedUpdate(s.ctx, "/ns/one", options, [](const runtime::ObjectPtr& current) {
        Update update;
        update.object = current->Clone();
        // The suggestion has no size, so that nothing changes there; the stored object has one.
        update.object->Erase("spec", "size");
        return Result<Update>(std::move(update));
      });
  EXPECT(updated.ok());
  // A write: the update was made again from the stored object, where it changes something.
  EXPECT_EQ((*updated)->resource_version(), "4");
  EXPECT((*s.Get("one"))->root()["spec"]["size"].is_null());
  return Status::Ok();
}

Status AnUpdateKeepsTheLeaseSetsItOrTakesItAway(StorageSubject& s) {
  EXPECT(s.storage->Create(s.ctx, "/ns/one", *NewWidget(s.kind, "one"), std::chrono::seconds(100))
             .ok());
  const auto lease = [&] {
    kv::RangeRequest request;
    request.key = "/registry/test.example.com/widgets/ns/one";
    return s.engine->Range(s.ctx, request)->kvs.at(0).lease;
  };
  const auto first = lease();
  EXPECT(s.Resize("one", 3).ok());
  EXPECT_EQ(lease(), first);
  const auto with_ttl = [&](int size, std::chrono::seconds ttl) {
    return s.storage
        ->GuaranteedUpdate(s.ctx, "/ns/one", {},
                           [&](const runtime::ObjectPtr& current) {
                             Update update;
                             update.object = current->Clone();
                             update.object->Edit("spec", "size") = size;
                             update.ttl = ttl;
                             return Result<Update>(std::move(update));
                           })
        .ok();
  };
  // A TTL of zero detaches the lease; an update without a TTL keeps it.
  EXPECT(with_ttl(4, std::chrono::seconds(0)));
  EXPECT_EQ(lease(), 0);
  EXPECT(with_ttl(5, std::chrono::seconds(5000)));
  EXPECT(lease() != 0);
  EXPECT(lease() != first);
  return Status::Ok();
}

Status CountCountsKeysBelowAPrefix(StorageSubject& s) {
  s.Create("one");
  s.Create("two", "ns");
  s.Create("three", "other");
  EXPECT_EQ(*s.storage->Count(s.ctx, "/"), 3U);
  EXPECT_EQ(*s.storage->Count(s.ctx, "/ns/"), 2U);
  return Status::Ok();
}

Status TheCurrentResourceVersionIsTheLastWrites(StorageSubject& s) {
  s.Create("one");
  EXPECT(s.Resize("one", 1).ok());
  EXPECT_EQ(*s.storage->CurrentResourceVersion(s.ctx), 3);
  return Status::Ok();
}

Status AContextThatIsDoneEndsAnUpdate(StorageSubject& s) {
  s.Create("one");
  const Context child = Context::Child(s.ctx);
  child.Cancel(Status(Reason::kTimeout, "gone"));
  const auto updated =
      s.storage->GuaranteedUpdate(child, "/ns/one", {}, [](const runtime::ObjectPtr& current) {
        Update update;
        update.object = current->Clone();
        update.object->Edit("spec", "size") = 9;
        return Result<Update>(std::move(update));
      });
  EXPECT_REASON(updated, Reason::kTimeout);
  return Status::Ok();
}

}  // namespace

StorageCaseTable StorageObjectCases() {
  return {
      {"create returns the object with its revision", "RunTestCreate",
       CreateReturnsTheObjectWithItsRevision},
      {"create stores Go's bytes under Go's key", "RunTestCreate", CreateStoresGosBytesUnderGosKey},
      {"create refuses a key that is taken", "RunTestCreateWithKeyExist",
       CreateRefusesAKeyThatIsTaken},
      {"create refuses an object with a resourceVersion", "RunTestCreate",
       CreateRefusesAnObjectWithAResourceversion},
      {"create with a TTL attaches a lease", "RunTestCreateWithTTL", CreateWithATtlAttachesALease},
      {"get of what is not there is not found", "RunTestGet", GetOfWhatIsNotThereIsNotFound},
      {"get may return null instead of not found", "RunTestGet", GetMayReturnNullInsteadOfNotFound},
      {"get waits for no revision that has been", "RunTestGet", GetWaitsForNoRevisionThatHasBeen},
      {"get of a future revision is too large", "RunTestGet", GetOfAFutureRevisionIsTooLarge},
      {"get refuses a resource version that is no number", "RunTestGet",
       GetRefusesAResourceVersionThatIsNoNumber},
      {"keys with dots are refused", "RunTestKeySchema", KeysWithDotsAreRefused},
      {"update writes what it is given", "RunTestGuaranteedUpdate", UpdateWritesWhatItIsGiven},
      {"update of what is not there is not found", "RunTestGuaranteedUpdate",
       UpdateOfWhatIsNotThereIsNotFound},
      {"update may create", "RunTestGuaranteedUpdate", UpdateMayCreate},
      {"an update that changes no byte is no write", "RunTestGuaranteedUpdate",
       AnUpdateThatChangesNoByteIsNoWrite},
      {"an update rewrites bytes that differ only in form",
       "RunTestGuaranteedUpdateChecksStoredData", AnUpdateRewritesBytesThatDifferOnlyInForm},
      {"update checks preconditions", "RunTestGuaranteedUpdate", UpdateChecksPreconditions},
      {"the updater's error is returned as it is", "RunTestGuaranteedUpdate",
       TheUpdatersErrorIsReturnedAsItIs},
      {"update starts again when another writes in between", "RunTestGuaranteedUpdateWithConflict",
       UpdateStartsAgainWhenAnotherWritesInBetween},
      {"update refuses a stale suggestion only after reading",
       "RunTestGuaranteedUpdateWithSuggestionAndConflict",
       UpdateRefusesAStaleSuggestionOnlyAfterReading},
      {"a no-op on a stale suggestion is not believed",
       "RunTestGuaranteedUpdateWithSuggestionAndConflict", ANoOpOnAStaleSuggestionIsNotBelieved},
      {"an update keeps the lease, sets it or takes it away", "RunTestGuaranteedUpdateWithTTL",
       AnUpdateKeepsTheLeaseSetsItOrTakesItAway},
      {"count counts keys below a prefix", "RunTestStats", CountCountsKeysBelowAPrefix},
      {"the current resource version is the last write's", "",
       TheCurrentResourceVersionIsTheLastWrites},
      {"a context that is done ends an update", "", AContextThatIsDoneEndsAnUpdate},
  };
}

}  // namespace apiserver::v0::testing::storage
