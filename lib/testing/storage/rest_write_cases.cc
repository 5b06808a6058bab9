#include <atomic>

#include "apiserver/base/sync.h"
#include "testing/storage/rest_subject.h"

// Creates and updates of a rest::Storage.
namespace apiserver::v0::testing::storage::rest_kit {
namespace {

constexpr unsigned kCreates = kCreate | kGet | kList;
constexpr unsigned kUpdates = kUpdate | kGet | kList;

Status No() { return {Reason::kForbidden, "the case says no"}; }

void Annotate(Object& object, std::string_view text) {
  object.Edit("metadata", "annotations", "kit") = text;
}

std::string NoteOf(const Object& object) {
  return std::string(object.annotations()["kit"].AsString());
}

Status CreateFillsSystemFields(RestSubject& s) {
  const auto made = s.Create(s.New("a", "red"));
  EXPECT(made.ok());
  EXPECT_EQ(std::string((*made)->name()), "a");
  EXPECT_EQ(std::string((*made)->namespace_()), s.namespaced() ? "ns" : "");
  EXPECT(!(*made)->uid().empty());
  EXPECT(!(*made)->metadata()["creationTimestamp"].AsString().empty());
  EXPECT(Number((*made)->resource_version()) > 0);
  EXPECT_EQ(s.MarkOf(**made), "red");
  const auto got = s.Get("a").value();
  EXPECT_EQ(std::string(got->uid()), std::string((*made)->uid()));
  EXPECT_EQ(std::string(got->resource_version()), std::string((*made)->resource_version()));
  return Status::Ok();
}

Status ATakenNameIsRefused(RestSubject& s) {
  const auto first = s.Create(s.New("a", "red")).value();
  const auto second = s.Create(s.New("a", "blue"));
  EXPECT_REASON(second, Reason::kAlreadyExists);
  EXPECT_EQ(second.status().code(), 409);
  const auto got = s.Get("a").value();
  EXPECT_EQ(s.MarkOf(*got), "red");
  EXPECT_EQ(std::string(got->uid()), std::string(first->uid()));
  EXPECT_EQ(std::string(got->resource_version()), std::string(first->resource_version()));
  return Status::Ok();
}

Status GenerateNameMakesNames(RestSubject& s) {
  for (int i = 0; i < 2; ++i) {
    auto object = s.New("");
    object->Edit("metadata", "generateName") = "base-";
    const auto made = s.Create(std::move(object));
    EXPECT(made.ok());
    EXPECT((*made)->name().starts_with("base-"));
    EXPECT((*made)->name().size() > 5);
    EXPECT(s.Get((*made)->name()).ok());
  }
  EXPECT_EQ(s.List()->items.size(), 2U);
  return Status::Ok();
}

Status ANameIsNeeded(RestSubject& s) {
  const auto made = s.Create(s.New(""));
  EXPECT(!made.ok());
  EXPECT(made.status().code() == 422 || made.status().code() == 400);
  EXPECT(s.List()->items.empty());
  return Status::Ok();
}

Status ADryRunCreatesNothing(RestSubject& s) {
  const std::string before = s.Now();
  const auto made = s.Create(s.New("a", "red"), nullptr, true);
  EXPECT(made.ok());
  EXPECT_EQ(std::string((*made)->name()), "a");
  EXPECT(!(*made)->uid().empty());
  EXPECT_EQ(s.MarkOf(**made), "red");
  EXPECT_REASON(s.Get("a"), Reason::kNotFound);
  EXPECT_EQ(s.Now(), before);
  return Status::Ok();
}

Status ADryRunSeesTakenNames(RestSubject& s) {
  EXPECT(s.Create(s.New("a")).ok());
  EXPECT_REASON(s.Create(s.New("a"), nullptr, true), Reason::kAlreadyExists);
  return Status::Ok();
}

Status CreateAsksWithTheFinishedObject(RestSubject& s) {
  // Names and uids are given before validation, in a dry run too.
  for (const bool dry_run : {false, true}) {
    std::string name;
    std::string uid;
    int calls = 0;
    auto object = s.New("", "red");
    object->Edit("metadata", "generateName") = "base-";
    const auto made = s.Create(
        std::move(object),
        [&](const Context&, const Object& seen) {
          ++calls;
          name = seen.name();
          uid = seen.uid();
          return Status();
        },
        dry_run);
    EXPECT(made.ok());
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(name, std::string((*made)->name()));
    EXPECT_EQ(uid, std::string((*made)->uid()));
  }
  return Status::Ok();
}

Status CreateObeysARefusal(RestSubject& s) {
  for (const bool dry_run : {false, true}) {
    const auto made = s.Create(
        s.New("a"), [](const Context&, const Object&) { return No(); }, dry_run);
    EXPECT_REASON(made, Reason::kForbidden);
    EXPECT_EQ(std::string(made.status().message()), std::string(No().message()));
  }
  EXPECT_REASON(s.Get("a"), Reason::kNotFound);
  return Status::Ok();
}

Status CreateTakesTheRequestsNamespace(RestSubject& s) {
  auto object = s.New("a");
  object->Erase("metadata", "namespace");
  const auto made = s.Create(std::move(object));
  EXPECT(made.ok());
  EXPECT_EQ(std::string((*made)->namespace_()), "ns");
  EXPECT_REASON(s.Create(s.New("b", "one", "other")), Reason::kBadRequest);
  EXPECT_EQ(s.Names({}, ""), "a");
  return Status::Ok();
}

Status NamesAreOfANamespace(RestSubject& s) {
  const auto one = s.Create(s.New("a")).value();
  const auto two = s.can().creater->Create(s.In("other"), s.New("a", "one", "other"), nullptr, {});
  EXPECT(two.ok());
  EXPECT(one->uid() != (*two)->uid());
  return Status::Ok();
}

Status TheServerGivesUids(RestSubject& s) {
  auto object = s.New("a");
  object->Edit("metadata", "uid") = "mine";
  const auto made = s.Create(std::move(object));
  EXPECT(made.ok());
  EXPECT((*made)->uid() != "mine");
  return Status::Ok();
}

Status CreateTakesNoVersion(RestSubject& s) {
  auto object = s.New("a");
  object->Edit("metadata", "resourceVersion") = "7";
  EXPECT(!s.Create(std::move(object)).ok());
  EXPECT_REASON(s.Get("a"), Reason::kNotFound);
  return Status::Ok();
}

Status ABadNameIsRefused(RestSubject& s) {
  const auto made = s.Create(s.New("a/b"));
  EXPECT(!made.ok());
  EXPECT(made.status().code() == 422 || made.status().code() == 400);
  EXPECT(s.List()->items.empty());
  return Status::Ok();
}

Status AnInvalidObjectIsNotCreated(RestSubject& s) {
  for (const bool dry_run : {false, true}) {
    auto object = s.New("a");
    s.host().spoil(*object);
    const auto made = s.Create(std::move(object), nullptr, dry_run);
    EXPECT_REASON(made, Reason::kInvalid);
    EXPECT_EQ(made.status().code(), 422);
  }
  EXPECT_REASON(s.Get("a"), Reason::kNotFound);
  return Status::Ok();
}

Status OneOfManyCreatesWins(RestSubject& s) {
  std::atomic<int> made{0};
  std::atomic<int> refused{0};
  {
    // The threads are joined at the end of this block.
    std::vector<Thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back("create", [&] {
        const auto one = s.Create(s.New("a"));
        if (one.ok()) ++made;
        if (one.status().reason() == Reason::kAlreadyExists) ++refused;
      });
    }
  }
  EXPECT_EQ(made.load(), 1);
  EXPECT_EQ(refused.load(), 3);
  EXPECT_EQ(s.List()->items.size(), 1U);
  return Status::Ok();
}

Status UpdateChangesOneObject(RestSubject& s) {
  s.Add("a");
  const auto before = s.Get("a").value();
  const auto done = s.Note("a", "x");
  EXPECT(done.ok());
  EXPECT(!done->created);
  EXPECT_EQ(NoteOf(*done->object), "x");
  EXPECT_EQ(std::string(done->object->uid()), std::string(before->uid()));
  EXPECT_EQ(std::string(done->object->metadata()["creationTimestamp"].AsString()),
            std::string(before->metadata()["creationTimestamp"].AsString()));
  EXPECT(Number(done->object->resource_version()) > Number(before->resource_version()));
  const auto after = s.Get("a").value();
  EXPECT_EQ(NoteOf(*after), "x");
  EXPECT_EQ(std::string(after->resource_version()), std::string(done->object->resource_version()));
  return Status::Ok();
}

Status AStaleUpdateIsAConflict(RestSubject& s) {
  s.Add("a");
  const auto stale = s.Get("a").value();
  EXPECT(s.Note("a", "x").ok());
  auto object = stale->Clone();
  Annotate(*object, "y");
  const auto done = s.Update("a", *rest::DefaultUpdatedObjectInfo(ObjectPtr(std::move(object))));
  EXPECT_REASON(done, Reason::kConflict);
  EXPECT_EQ(done.status().code(), 409);
  EXPECT_EQ(NoteOf(*s.Get("a").value()), "x");
  return Status::Ok();
}

Status UpdateOfNothingIsNotFoundOrCreates(RestSubject& s) {
  const auto done = s.Update("a", *rest::DefaultUpdatedObjectInfo(ObjectPtr(s.New("a"))));
  // A strategy may let updates create: AllowCreateOnUpdate.
  if (done.ok()) {
    EXPECT(done->created);
    EXPECT(s.Get("a").ok());
    return Status::Ok();
  }
  EXPECT_REASON(done, Reason::kNotFound);
  EXPECT_REASON(s.Get("a"), Reason::kNotFound);
  return Status::Ok();
}

Status AnUpdateOfNothingNewIsNoWrite(RestSubject& s) {
  s.Add("a");
  EXPECT(s.Note("a", "x").ok());
  const auto before = s.Get("a").value();
  const std::string now = s.Now();
  // An update that changes nothing must wake no watch.
  const auto done = s.Note("a", "x");
  EXPECT(done.ok());
  EXPECT_EQ(std::string(done->object->resource_version()), std::string(before->resource_version()));
  EXPECT_EQ(s.Now(), now);
  return Status::Ok();
}

Status ADryRunUpdatesNothing(RestSubject& s) {
  s.Add("a");
  const std::string now = s.Now();
  const auto done =
      s.Update("a", Editing([](Object& object) { Annotate(object, "x"); }), nullptr, true);
  EXPECT(done.ok());
  EXPECT_EQ(NoteOf(*done->object), "x");
  EXPECT_EQ(NoteOf(*s.Get("a").value()), "");
  EXPECT_EQ(s.Now(), now);
  return Status::Ok();
}

Status UpdateAsksWithNewAndOld(RestSubject& s) {
  s.Add("a");
  EXPECT(s.Note("a", "x").ok());
  for (const bool dry_run : {true, false}) {
    std::string seen;
    const auto done = s.Update(
        "a", Editing([](Object& object) { Annotate(object, "y"); }),
        [&](const Context&, const Object& object, const Object& old) {
          seen = NoteOf(old) + " to " + NoteOf(object);
          return Status();
        },
        dry_run);
    EXPECT(done.ok());
    EXPECT_EQ(seen, "x to y");
  }
  return Status::Ok();
}

Status UpdateObeysARefusal(RestSubject& s) {
  s.Add("a");
  const auto done = s.Update("a", Editing([](Object& object) { Annotate(object, "y"); }),
                             [](const Context&, const Object&, const Object&) { return No(); });
  EXPECT_REASON(done, Reason::kForbidden);
  EXPECT_EQ(NoteOf(*s.Get("a").value()), "");
  return Status::Ok();
}

Status AnUpdatesOwnErrorIsReturned(RestSubject& s) {
  class Failing final : public rest::UpdatedObjectInfo {
    Result<std::unique_ptr<Object>> UpdatedObject(const Context&, const ObjectPtr&) const override {
      return No();
    }
  };
  s.Add("a");
  const auto done = s.Update("a", Failing());
  EXPECT_REASON(done, Reason::kForbidden);
  EXPECT_EQ(std::string(done.status().message()), std::string(No().message()));
  return Status::Ok();
}

Status AnUpdatesUidMustBeThatOfTheObject(RestSubject& s) {
  s.Add("a");
  meta::Preconditions other;
  other.uid = "other";
  const auto edit = [](Object& object) { Annotate(object, "x"); };
  EXPECT_REASON(s.Update("a", Editing(edit, other)), Reason::kConflict);
  EXPECT_EQ(NoteOf(*s.Get("a").value()), "");
  meta::Preconditions same;
  same.uid = std::string(s.Get("a").value()->uid());
  EXPECT(s.Update("a", Editing(edit, same)).ok());
  return Status::Ok();
}

Status AnUpdateCannotChangeIdentity(RestSubject& s) {
  s.Add("a");
  const auto before = s.Get("a").value();
  (void)s.Update("a", Editing([](Object& object) {
                   object.Edit("metadata", "uid") = "other";
                   Annotate(object, "x");
                 }));
  EXPECT_EQ(std::string(s.Get("a").value()->uid()), std::string(before->uid()));
  return Status::Ok();
}

Status AnInvalidUpdateIsRefused(RestSubject& s) {
  s.Add("a");
  const std::string now = s.Now();
  const auto done = s.Update("a", Editing([&](Object& object) { s.host().spoil(object); }));
  EXPECT_REASON(done, Reason::kInvalid);
  EXPECT_EQ(s.Now(), now);
  return Status::Ok();
}

// Counts the note up by one, again after a conflict. False: it could not.
bool CountUp(RestSubject& s, const std::string& name) {
  const auto grow = [](Object& object) {
    Annotate(object, std::to_string(Number(NoteOf(object)) + 1));
  };
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const auto done = s.Update(name, Editing(grow));
    if (done.ok()) return true;
    if (done.status().reason() != Reason::kConflict) return false;
  }
  return false;
}

Status NoUpdateIsLost(RestSubject& s) {
  s.Add("a");
  EXPECT(s.Note("a", "0").ok());
  std::atomic<int> failed{0};
  const auto grow = [&] {
    for (int i = 0; i < 10; ++i) failed += CountUp(s, "a") ? 0 : 1;
  };
  {
    Thread one("one", grow);
    Thread two("two", grow);
    Thread three("three", grow);
  }
  EXPECT_EQ(failed.load(), 0);
  EXPECT_EQ(NoteOf(*s.Get("a").value()), "30");
  return Status::Ok();
}

Status AWriteIsTold(RestSubject& s) {
  Watching watch = s.WatchFrom(s.Now());
  EXPECT(s.Create(s.New("a")).ok());
  EXPECT(s.Note("a", "x").ok());
  EXPECT(s.Note("a", "x").ok());
  EXPECT(s.Create(s.New("b"), nullptr, true).ok());
  const auto last = s.Create(s.New("c")).value();
  // Neither the update that changes nothing nor the dry run may be told.
  EXPECT_EQ(watch.NextChange(), "ADDED a");
  EXPECT_EQ(watch.NextChange(), "MODIFIED a");
  const auto event = watch.Next();
  EXPECT(event.ok());
  EXPECT_EQ(event->resource_version, std::string(last->resource_version()));
  return Status::Ok();
}

}  // namespace

RestCaseTable CreateCases() {
  return {
      {"create: fills the system fields and stores", kCreates, CreateFillsSystemFields},
      {"create: a taken name is 409 and keeps what is there", kCreates, ATakenNameIsRefused},
      {"create: generateName makes names", kCreates, GenerateNameMakesNames},
      {"create: an object without a name is refused", kCreates, ANameIsNeeded},
      {"create: a dry run stores nothing", kCreates, ADryRunCreatesNothing},
      {"create: a dry run sees taken names", kCreates, ADryRunSeesTakenNames},
      {"create: validate sees the finished object, once", kCreate, CreateAsksWithTheFinishedObject},
      {"create: validate may refuse", kCreates, CreateObeysARefusal},
      {"create: the request's namespace counts", kCreates | kNamespaces,
       CreateTakesTheRequestsNamespace},
      {"create: one name in two namespaces is two objects", kCreates | kNamespaces,
       NamesAreOfANamespace},
      {"create: the server gives the uid", kCreate, TheServerGivesUids},
      {"create: an object with a resourceVersion is refused", kCreates, CreateTakesNoVersion},
      {"create: a name that no path can have is refused", kCreates, ABadNameIsRefused},
      {"create: an invalid object is 422, also as a dry run", kCreates | kValidation,
       AnInvalidObjectIsNotCreated},
      {"create: of many at once one wins", kCreates, OneOfManyCreatesWins},
  };
}

RestCaseTable UpdateCases() {
  return {
      {"update: changes the object and keeps its identity", kUpdates, UpdateChangesOneObject},
      {"update: from a stale resourceVersion is 409", kUpdates, AStaleUpdateIsAConflict},
      {"update: of an absent object is 404, or creates it", kUpdates,
       UpdateOfNothingIsNotFoundOrCreates},
      {"update: that changes nothing is no write", kUpdates, AnUpdateOfNothingNewIsNoWrite},
      {"update: a dry run stores nothing", kUpdates, ADryRunUpdatesNothing},
      {"update: validate sees the new object and the old one", kUpdates, UpdateAsksWithNewAndOld},
      {"update: validate may refuse", kUpdates, UpdateObeysARefusal},
      {"update: the error of UpdatedObject is returned", kUpdates, AnUpdatesOwnErrorIsReturned},
      {"update: a uid precondition holds", kUpdates, AnUpdatesUidMustBeThatOfTheObject},
      {"update: the uid stays", kUpdates, AnUpdateCannotChangeIdentity},
      {"update: an invalid object is 422", kUpdates | kValidation, AnInvalidUpdateIsRefused},
      {"update: none of many at once is lost", kUpdates, NoUpdateIsLost},
      {"watch: tells of every write once, and of no dry run", kCreates | kUpdates | kWatch,
       AWriteIsTold},
  };
}

}  // namespace apiserver::v0::testing::storage::rest_kit
