#include "testing/storage/rest_subject.h"

// Deletions of a rest::Storage.
namespace apiserver::v0::testing::storage::rest_kit {
namespace {

constexpr unsigned kDeletes = kDelete | kGet | kList;
constexpr unsigned kCollections = kCollection | kList;

meta::DeleteOptions DryRun() {
  meta::DeleteOptions options;
  options.dry_run = true;
  return options;
}

Status Refuse(const Context&, const Object&) { return {Reason::kForbidden, "the case says no"}; }

Status DeleteRemovesTheObject(RestSubject& s) {
  s.Add("a");
  s.Add("b");
  const auto done = s.Delete("a");
  EXPECT(done.ok());
  EXPECT_REASON(s.Get("a"), Reason::kNotFound);
  EXPECT_EQ(s.Names(), "b");
  EXPECT(done->deleted_immediately);
  return Status::Ok();
}

Status DeleteSaysWhatItDeleted(RestSubject& s) {
  s.Add("a");
  const std::string uid(s.Get("a").value()->uid());
  const auto done = s.Delete("a").value();
  if (done.object != nullptr) {
    EXPECT_EQ(std::string(done.object->uid()), uid);
  } else {
    // Empty details are made of the request.
    EXPECT(done.details.name.empty() || done.details.name == s.HostName("a"));
    EXPECT(done.details.uid.empty() || done.details.uid == uid);
  }
  return Status::Ok();
}

Status DeleteOfNothingIsNotFound(RestSubject& s) {
  s.Add("a");
  EXPECT_REASON(s.Delete("b"), Reason::kNotFound);
  EXPECT(s.Delete("a").ok());
  EXPECT_REASON(s.Delete("a"), Reason::kNotFound);
  return Status::Ok();
}

Status DeleteChecksTheUid(RestSubject& s) {
  s.Add("a");
  meta::DeleteOptions options;
  options.preconditions.uid = "other";
  EXPECT_REASON(s.Delete("a", options), Reason::kConflict);
  EXPECT(s.Get("a").ok());
  options.preconditions.uid = std::string(s.Get("a").value()->uid());
  EXPECT(s.Delete("a", options).ok());
  EXPECT_REASON(s.Get("a"), Reason::kNotFound);
  return Status::Ok();
}

Status DeleteChecksTheVersion(RestSubject& s) {
  s.Add("a");
  meta::DeleteOptions options;
  options.preconditions.resource_version = std::string(s.Get("a").value()->resource_version());
  s.Remark("a", "two");
  EXPECT_REASON(s.Delete("a", options), Reason::kConflict);
  EXPECT(s.Get("a").ok());
  options.preconditions.resource_version = std::string(s.Get("a").value()->resource_version());
  EXPECT(s.Delete("a", options).ok());
  return Status::Ok();
}

Status ADryRunDeletesNothing(RestSubject& s) {
  s.Add("a");
  const std::string now = s.Now();
  EXPECT(s.Delete("a", DryRun()).ok());
  EXPECT(s.Get("a").ok());
  EXPECT(!s.Get("a").value()->deleting());
  EXPECT_EQ(s.Now(), now);
  EXPECT_REASON(s.Delete("b", DryRun()), Reason::kNotFound);
  return Status::Ok();
}

Status DeleteAsksWithTheObject(RestSubject& s) {
  s.Add("a", "red");
  // Admission must be able to refuse a dry run, too.
  for (const bool dry_run : {true, false}) {
    std::string seen;
    meta::DeleteOptions options;
    options.dry_run = dry_run;
    const auto ask = [&](const Context&, const Object& object) {
      seen = s.NameOf(object) + " " + s.MarkOf(object);
      return Status();
    };
    EXPECT(s.Delete("a", options, ask).ok());
    EXPECT_EQ(seen, "a red");
  }
  return Status::Ok();
}

Status DeleteObeysARefusal(RestSubject& s) {
  s.Add("a");
  EXPECT_REASON(s.Delete("a", {}, Refuse), Reason::kForbidden);
  EXPECT(s.Get("a").ok());
  EXPECT(!s.Get("a").value()->deleting());
  return Status::Ok();
}

Status ADeletionIsToldOnce(RestSubject& s) {
  s.Add("a");
  Watching watch = s.WatchFrom(s.Now());
  EXPECT(s.Delete("a").ok());
  // The next object's event shows that the first one's was told only once.
  s.Add("b");
  EXPECT_EQ(watch.NextChange(), "DELETED a");
  EXPECT_EQ(watch.NextChange(), "ADDED b");
  return Status::Ok();
}

Status ANameComesBackAsAnotherObject(RestSubject& s) {
  s.Add("a", "red");
  const auto first = s.Get("a").value();
  EXPECT(s.Delete("a").ok());
  s.Add("a", "blue");
  const auto second = s.Get("a").value();
  EXPECT(first->uid() != second->uid());
  EXPECT(Number(second->resource_version()) > Number(first->resource_version()));
  EXPECT_EQ(s.MarkOf(*second), "blue");
  return Status::Ok();
}

void Hold(Object& object) {
  runtime::ListBuilder list(object.arena());
  list.Add(runtime::Value::String("kit.example.com/hold"));
  object.Edit("metadata", "finalizers") = list.Build();
}

Status FinalizersHoldAnObject(RestSubject& s) {
  s.Add("a");
  EXPECT(s.Update("a", Editing(Hold)).ok());
  const auto done = s.Delete("a");
  EXPECT(done.ok());
  EXPECT(!done->deleted_immediately);
  const auto held = s.Get("a");
  EXPECT(held.ok());
  EXPECT((*held)->deleting());
  // Once more changes nothing.
  EXPECT(s.Delete("a").ok());
  EXPECT_EQ(std::string(s.Get("a").value()->metadata()["deletionTimestamp"].AsString()),
            std::string((*held)->metadata()["deletionTimestamp"].AsString()));
  EXPECT(
      s.Update("a", Editing([](Object& object) { object.Erase("metadata", "finalizers"); })).ok());
  EXPECT_REASON(s.Get("a"), Reason::kNotFound);
  return Status::Ok();
}

Status AMarkIsTold(RestSubject& s) {
  s.Add("a");
  EXPECT(s.Update("a", Editing(Hold)).ok());
  Watching watch = s.WatchFrom(s.Now());
  EXPECT(s.Delete("a").ok());
  EXPECT(
      s.Update("a", Editing([](Object& object) { object.Erase("metadata", "finalizers"); })).ok());
  const auto marked = watch.Next();
  EXPECT(marked.ok());
  EXPECT(marked->type == watch::EventType::kModified);
  EXPECT(marked->object->deleting());
  EXPECT_EQ(watch.NextChange(), "DELETED a");
  return Status::Ok();
}

Status ACollectionIsDeleted(RestSubject& s) {
  for (const char* name : {"a", "b", "c"}) s.Add(name);
  const auto done = s.DeleteCollection({}, {});
  EXPECT_EQ(s.NamesOf(done), "a b c");
  EXPECT_EQ(s.Names(), "");
  EXPECT_EQ(s.NamesOf(s.DeleteCollection({}, {})), "");
  return Status::Ok();
}

Status ACollectionIsOfItsNamespace(RestSubject& s) {
  s.Add("a", "one", "ns");
  s.Add("b", "one", "other");
  EXPECT_EQ(s.NamesOf(s.DeleteCollection({}, {})), "a");
  EXPECT_EQ(s.Names({}, ""), "b");
  return Status::Ok();
}

Status ASelectedCollectionIsDeleted(RestSubject& s) {
  s.Add("a", "red");
  s.Add("b", "blue");
  s.Add("c", "red");
  EXPECT_EQ(s.NamesOf(s.DeleteCollection({}, Labelled("kit=red"))), "a c");
  EXPECT_EQ(s.Names(), "b");
  return Status::Ok();
}

Status ADryRunDeletesNoCollection(RestSubject& s) {
  s.Add("a");
  EXPECT_EQ(s.NamesOf(s.DeleteCollection(DryRun(), {})), "a");
  EXPECT_EQ(s.Names(), "a");
  return Status::Ok();
}

Status ACollectionObeysARefusal(RestSubject& s) {
  s.Add("a");
  EXPECT_REASON(s.DeleteCollection({}, {}, Refuse), Reason::kForbidden);
  EXPECT_EQ(s.Names(), "a");
  return Status::Ok();
}

}  // namespace

RestCaseTable DeleteCases() {
  return {
      {"delete: removes the object", kDeletes, DeleteRemovesTheObject},
      {"delete: its result is about the object", kDeletes, DeleteSaysWhatItDeleted},
      {"delete: an absent object is 404", kDeletes, DeleteOfNothingIsNotFound},
      {"delete: a uid precondition holds", kDeletes, DeleteChecksTheUid},
      {"delete: a resourceVersion precondition holds", kDeletes | kUpdate, DeleteChecksTheVersion},
      {"delete: a dry run removes nothing", kDeletes, ADryRunDeletesNothing},
      {"delete: validate sees the object", kDeletes, DeleteAsksWithTheObject},
      {"delete: validate may refuse", kDeletes, DeleteObeysARefusal},
      {"delete: is told once", kDeletes | kWatch, ADeletionIsToldOnce},
      {"delete: the name comes back as another object", kDeletes, ANameComesBackAsAnotherObject},
      {"delete: finalizers hold the object until they are gone", kDeletes | kUpdate | kFinalizers,
       FinalizersHoldAnObject},
      {"delete: an object that is marked is told as MODIFIED",
       kDeletes | kUpdate | kFinalizers | kWatch, AMarkIsTold},
      {"deletecollection: removes all and returns them", kCollections, ACollectionIsDeleted},
      {"deletecollection: is of the request's namespace", kCollections | kNamespaces,
       ACollectionIsOfItsNamespace},
      {"deletecollection: selectors count", kCollections | kLabels, ASelectedCollectionIsDeleted},
      {"deletecollection: a dry run removes nothing", kCollections, ADryRunDeletesNoCollection},
      {"deletecollection: validate may refuse", kCollections, ACollectionObeysARefusal},
  };
}

}  // namespace apiserver::v0::testing::storage::rest_kit
