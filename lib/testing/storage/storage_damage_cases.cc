#include "testing/storage/storage_subject.h"

// The cases about stored bytes that are no object, for which upstream uses failing transformers.
namespace apiserver::v0::testing::storage {
namespace {

constexpr const char* kGarbage = "this is no object";

Status ReadsOfDamageFail(StorageSubject& s) {
  s.Create("a");
  EXPECT(s.Put("a", kGarbage).ok());
  s.Create("b");
  EXPECT_REASON(s.Get("a"), Reason::kInternalError);
  // Damage to one object must not affect others.
  EXPECT(s.Get("b").ok());
  EXPECT_REASON(s.Resize("a", 3), Reason::kInternalError);
  EXPECT_REASON(s.Delete("a"), Reason::kInternalError);
  return Status::Ok();
}

Status AListWithDamageFails(StorageSubject& s) {
  s.Create("a");
  EXPECT(s.Put("b", kGarbage).ok());
  s.Create("c");
  EXPECT_REASON(s.List(), Reason::kStorageReadError);
  return Status::Ok();
}

Status AWatchOfDamageEndsWithAnError(StorageSubject& s) {
  s.Create("a");
  EXPECT(s.Put("b", kGarbage).ok());
  s.Create("c");
  ListOptions from;
  from.resource_version = "1";
  auto stream = s.storage->Watch(s.ctx, "/", from);
  // A cache that cannot load its state may refuse the watch instead.
  if (!stream.ok()) return Status::Ok();
  WatchReader watch(std::move(*stream));
  std::string next = watch.NextText();
  // Events before the damage may or may not come first.
  if (next == "ADDED a 2") next = watch.NextText();
  EXPECT_EQ(next, "ERROR InternalError");
  EXPECT_EQ(watch.NextText(), "END");
  return Status::Ok();
}

Status AWatchOfOneDamagedObjectTellsSo(StorageSubject& s) {
  s.Create("a");
  EXPECT(s.Put("a", kGarbage).ok());
  ListOptions from;
  from.resource_version = "2";
  from.recursive = false;
  auto watch = s.Watch(from, "/ns/a");
  EXPECT_EQ(watch.NextText(), "ERROR InternalError");
  EXPECT_EQ(watch.NextText(), "END");
  return Status::Ok();
}

}  // namespace

StorageCaseTable StorageDamageCases() {
  return {
      {"what cannot be decoded is read, updated and deleted with an error",
       "RunTestTransformationFailure", ReadsOfDamageFail},
      {"a list that holds what cannot be decoded fails", "RunTestGetListWithErrorAggregation",
       AListWithDamageFails},
      {"a watch of one object that cannot be decoded ends with an error", "RunTestWatchError",
       AWatchOfOneDamagedObjectTellsSo},
      {"a watch ends with an error at what cannot be decoded",
       "RunWatchErrorIsBlockingFurtherEvents", AWatchOfDamageEndsWithAnError},
  };
}

}  // namespace apiserver::v0::testing::storage
